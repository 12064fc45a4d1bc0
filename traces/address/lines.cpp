#include "traces/address/lines.h"

#include "traces/address/forms.h"

#include <cstring>

namespace umf::traces::address {

namespace {
constexpr std::size_t kBlock = std::size_t{64} << 10;
}

Lines::Lines(io::Input input) : input_(std::move(input)), block_(kBlock) {}

bool Lines::next(std::string_view& line) {
  ++number_;
  for (;;) {
    const char* start = block_.data() + begin_;
    const std::size_t held = end_ - begin_;
    const void* found = std::memchr(start, '\n', held);
    if (found == nullptr && held <= kLongest && fill()) continue;
    // At the end of the file fill() has moved what is held.
    start = block_.data() + begin_;
    line = {start, found == nullptr
                       ? held
                       : static_cast<std::size_t>(static_cast<const char*>(found) - start)};
    if (line.size() > kLongest)
      throw UserError(place_in(name(), number_), "a line above 4 KiB, expected one request a line");
    line_ = begin_;
    begin_ += line.size() + (found == nullptr ? 0 : 1);
    const bool given = found != nullptr || !line.empty();
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return given;
  }
}

void Lines::again() {
  begin_ = line_;
  --number_;
}

/// Reads on behind what is held; false at the end.
bool Lines::fill() {
  std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = input_.read(block_.data() + end_, block_.size() - end_);
  end_ += got;
  return got > 0;
}

} // namespace umf::traces::address
