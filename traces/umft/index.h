#pragma once

#include "model/stream/records.h"
#include "traces/umft/bytes.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace umf::traces::umft {

/// What the index says of one frame of records.
struct FrameEntry {
  struct Kernels {
    stream::KernelId lowest = 0, highest = 0;
    bool operator==(const Kernels&) const = default;
  };
  struct Times {
    std::int64_t earliest_ns = 0, latest_ns = 0;
    bool operator==(const Times&) const = default;
  };

  std::uint64_t offset = 0; ///< of the frame in the file, bytes
  std::uint64_t first_record = 0;
  std::uint64_t records = 0;
  std::optional<Kernels> kernels; ///< absent: the frame has none
  std::optional<Times> times;     ///< absent: no record of the frame has a time

  void saw_kernel(stream::KernelId);
  void saw_time(std::int64_t ns);
  bool operator==(const FrameEntry&) const = default;
};

void encode_index(ByteWriter&, const std::vector<FrameEntry>&);
/// Throws DecodeFault.
std::vector<FrameEntry> decode_index(std::string_view contents);

} // namespace umf::traces::umft
