#pragma once

#include "model/stream/records.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace umf::traces {

/// What a trace holds. Sums of nanoseconds stop at the highest value; sums of bytes are
/// modulo 2^64, which no machine's memory reaches.
struct Summary {
  stream::Header header;

  std::uint64_t kernels = 0;
  std::uint64_t unknown_kernels = 0; ///< of rule unknown
  std::uint64_t joined_kernels = 0;  ///< whose operator is known
  std::uint64_t unique_kernel_names = 0;
  std::uint64_t grid_present = 0; ///< kernels whose grid was recorded
  std::uint64_t streams = 0;      ///< that kernels ran on

  struct Moves {
    std::uint64_t count = 0;
    std::uint64_t unsized = 0; ///< whose bytes the source does not say
    Bytes bytes{};
    std::int64_t total_ns = 0;
  };
  Moves copies; ///< without memsets
  Moves memsets;
  std::uint64_t syncs = 0;
  std::uint64_t requests = 0;
  std::uint64_t marks = 0;

  static constexpr std::size_t kRoles = 8;
  static constexpr std::size_t kRules = static_cast<std::size_t>(stream::kLastRule) + 1;
  struct Tensors {
    std::uint64_t count = 0;
    Bytes bytes{};
  };
  std::array<Tensors, kRoles> tensors{}; ///< by stream::Role
  struct Inferred {
    std::uint64_t kernels = 0; ///< whose own rule it is
    Bytes bytes{};             ///< moved by accesses of that rule
  };
  std::array<Inferred, kRules> inferred{}; ///< by stream::Rule

  std::uint64_t measured_kernels = 0;   ///< with a start and an end
  std::uint64_t negative_durations = 0; ///< that end before they start: in no figure below
  std::uint64_t zero_durations = 0;
  std::int64_t measured_kernel_ns = 0; ///< sum of the durations
  std::int64_t busy_ns = 0;            ///< at least one kernel runs, on whatever device
  std::int64_t span_ns = 0;            ///< first start to last end of kernels
  std::uint64_t same_stream_overlaps = 0;
  std::int64_t max_overlap_ns = 0;

  struct Durations {
    std::int64_t shortest_ns = 0;
    std::int64_t median_ns = 0; ///< exact; the higher of the two in the middle if there are two
    std::int64_t longest_ns = 0;
  };
  std::optional<Durations> durations; ///< absent without measured kernels

  std::vector<stream::Oddity> oddities;
};

/// Reads the stream to its end. Memory: 16 bytes a measured kernel (32 while a list grows, 24
/// at the end), so that median, union and overlaps are exact in any order of records: about
/// 270 MB for 10^7 kernels. Besides, one copy of each distinct kernel name.
Summary summarise(stream::Source&);

/// The object `inspect --format json` prints: format, device, kernels, copies, streams,
/// requests, measured_kernel_ns, busy_ns, copy_bytes, inferred_bytes, oddities and more.
/// Text that is not UTF-8 has its broken bytes replaced.
nlohmann::ordered_json to_json(const Summary&);

/// The same for people, in aligned lines. Capacities in GiB, amounts moved in GB.
std::string to_text(const Summary&);

} // namespace umf::traces
