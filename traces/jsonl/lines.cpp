#include "traces/jsonl/lines.h"

#include "traces/places.h"

#include <cstring>

namespace umf::traces::jsonl {

namespace {
constexpr std::size_t kBlock = std::size_t{64} << 10;
}

Lines::Lines(io::Input input) : input_(std::move(input)), buffer_(kBlock + kPadding) {}

bool Lines::next(std::string_view& line) {
  std::size_t searched = 0;
  ++number_;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const std::size_t held = end_ - begin_;
    if (const void* found = std::memchr(start + searched, '\n', held - searched)) {
      line = {start, static_cast<std::size_t>(static_cast<const char*>(found) - start)};
      begin_ += line.size() + 1;
      return true;
    }
    searched = held;
    if (fill()) continue;
    line = {buffer_.data() + begin_, held};
    begin_ = end_;
    return held > 0;
  }
}

/// Reads on behind what is held; false at the end.
bool Lines::fill() {
  if (end_ - begin_ > kLongest) {
    Place place = place_of(input_.name());
    place.line = number_;
    throw UserError(place, "a line above 256 MiB, expected one record a line");
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < kBlock + kPadding) buffer_.resize(2 * buffer_.size() + kBlock);
  const std::size_t got = input_.read(buffer_.data() + end_, kBlock);
  end_ += got;
  return got > 0;
}

} // namespace umf::traces::jsonl
