#include "traces/umft/index.h"

#include "traces/umft/format.h"

#include <algorithm>

namespace umf::traces::umft {

void FrameEntry::saw_kernel(stream::KernelId id) {
  if (!kernels) kernels = Kernels{id, id};
  kernels->lowest = std::min(kernels->lowest, id);
  kernels->highest = std::max(kernels->highest, id);
}

void FrameEntry::saw_time(std::int64_t ns) {
  if (!times) times = Times{ns, ns};
  times->earliest_ns = std::min(times->earliest_ns, ns);
  times->latest_ns = std::max(times->latest_ns, ns);
}

void encode_index(ByteWriter& out, const std::vector<FrameEntry>& frames) {
  out.varint(frames.size());
  std::uint64_t offset = 0;
  for (const auto& frame : frames) {
    out.varint(frame.offset - offset);
    offset = frame.offset;
    out.varint(frame.records);
    out.u8(static_cast<std::uint8_t>((frame.kernels ? index_flag::kernels : 0) |
                                     (frame.times ? index_flag::times : 0)));
    if (frame.kernels) {
      out.varint(frame.kernels->lowest);
      out.varint(frame.kernels->highest - frame.kernels->lowest);
    }
    if (frame.times) {
      out.zigzag(frame.times->earliest_ns);
      out.varint(static_cast<std::uint64_t>(frame.times->latest_ns) -
                 static_cast<std::uint64_t>(frame.times->earliest_ns));
    }
  }
}

namespace {

FrameEntry decode_entry(ByteReader& in, std::uint64_t offset_before, std::uint64_t first_record) {
  FrameEntry frame;
  frame.offset = offset_before + in.varint("a frame's offset");
  frame.first_record = first_record;
  frame.records = in.varint("a frame's records");
  const auto flags = in.code("an index entry's flags", index_flag::all + 1);
  if (flags & index_flag::kernels) {
    const auto lowest = in.varint("the lowest kernel");
    frame.kernels = FrameEntry::Kernels{lowest, lowest + in.varint("the highest kernel")};
  }
  if (flags & index_flag::times) {
    const auto earliest = in.zigzag("the earliest time");
    const auto span = static_cast<std::int64_t>(in.varint("the latest time"));
    frame.times = FrameEntry::Times{earliest, wrapped_sum(earliest, span)};
  }
  return frame;
}

} // namespace

std::vector<FrameEntry> decode_index(std::string_view contents) {
  constexpr std::size_t kLeastEntry = 3;
  ByteReader in(contents);
  std::vector<FrameEntry> frames(in.count("a count of frames", kLeastEntry));
  std::uint64_t offset = 0;
  std::uint64_t record = 0;
  for (auto& frame : frames) {
    frame = decode_entry(in, offset, record);
    offset = frame.offset;
    record += frame.records;
  }
  if (in.left() != 0)
    ByteReader::fail(in.offset(),
                     fmt::format("{} bytes after the last entry, expected none", in.left()));
  return frames;
}

} // namespace umf::traces::umft
