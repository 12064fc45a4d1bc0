#pragma once

#include "model/stream/records.h"
#include "traces/umft/bytes.h"
#include "traces/umft/deltas.h"
#include "traces/umft/index.h"

#include <functional>
#include <string>
#include <unordered_map>

namespace umf::traces::umft {

void encode_header(ByteWriter&, const stream::Header&);

/// Collects the records of one frame.
class FrameEncoder {
public:
  void add(const stream::Record&);

  /// Bytes the contents take so far, up to a few for the counts.
  std::size_t size() const { return records_.bytes().size() + strings_.bytes().size(); }
  bool empty() const { return entry_.records == 0; }

  /// The frame's contents and its index entry but for the offset; the next frame's
  /// records follow these.
  FrameEntry take(ByteWriter& contents);

private:
  void put(const stream::Tensor&);
  void put(const stream::Kernel&);
  void put(const stream::Copy&);
  void put(const stream::Sync&);
  void put(const stream::Alloc&);
  void put(const stream::Free&);
  void put(const stream::Request&);
  void put(const stream::Mark&);
  void put(const stream::Oddity&);
  void put(const stream::Access&);
  void put(const stream::StreamId&);

  template <class Enum>
  void code(Enum value);
  void text(const std::string&);
  void id(std::uint64_t);
  void differences(const std::vector<std::uint64_t>&);
  void optional_time(const std::optional<std::int64_t>& ns, std::int64_t& last);
  void optional_end(const std::optional<std::int64_t>& ns);

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  ByteWriter records_;
  ByteWriter strings_;
  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> known_;
  Deltas last_;
  FrameEntry entry_;
};

} // namespace umf::traces::umft
