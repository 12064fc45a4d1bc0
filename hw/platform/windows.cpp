#include "hw/platform/windows.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

namespace umf::hw {

Windows::Windows(Femtoseconds width, std::uint64_t most, std::vector<Column> columns)
    : width_(width), most_(most), columns_(std::move(columns)), values_(columns_.size()),
      last_(columns_.size()) {
  ensure(width.count > 0 && most >= 2 && most % 2 == 0, "windows: no time, or an odd number");
}

void Windows::put(std::size_t row, const std::vector<std::uint64_t>& state) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::uint64_t& value = values_[row * columns_.size() + c];
    if (columns_[c].kind == Kind::level) value = state[c];
    if (columns_[c].kind != Kind::counted && columns_[c].kind != Kind::elapsed) continue;
    ensure(state[c] >= last_[c], "windows: a counter fell");
    value += state[c] - std::exchange(last_[c], state[c]);
  }
}

void Windows::close(const std::vector<std::uint64_t>& state) {
  put(closed_++, state);
  values_.resize(values_.size() + columns_.size());
  if (closed_ == most_) join_pairs();
}

void Windows::add(std::size_t column, Femtoseconds at, std::uint64_t amount) {
  const auto row = static_cast<std::size_t>(at.count / width_.count);
  ensure(row <= closed_, "windows: time has not come to that window");
  values_[row * columns_.size() + column] += amount;
}

/// The open window, which is alone, becomes the first half of its pair.
void Windows::join_pairs() {
  const std::size_t wide = columns_.size();
  for (std::size_t row = 0; row < closed_ / 2; ++row)
    for (std::size_t c = 0; c < wide; ++c) {
      const std::uint64_t first = values_[2 * row * wide + c];
      const std::uint64_t second = values_[(2 * row + 1) * wide + c];
      values_[row * wide + c] = columns_[c].kind == Kind::level ? second : first + second;
    }
  std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(closed_ * wide), wide,
              values_.begin() + static_cast<std::ptrdiff_t>(closed_ / 2 * wide));
  closed_ /= 2;
  width_ = width_ * 2;
  values_.resize((closed_ + 1) * wide);
}

/// What happened at the very last instant belongs to the window that ends with it.
void Windows::finish(Femtoseconds end, const std::vector<std::uint64_t>& state) {
  const bool open_has_time = end > width_ * static_cast<std::int64_t>(closed_);
  if (open_has_time || closed_ == 0)
    put(closed_++, state);
  else
    put(closed_ - 1, state);
  end_ = end;
  values_.resize(closed_ * columns_.size());
}

Femtoseconds Windows::length(std::size_t row) const {
  return row + 1 == closed_ ? end_ - start(row) : width_;
}

std::uint64_t Windows::sum(std::size_t column) const {
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < closed_; ++row)
    sum += at(row, column);
  return sum;
}

} // namespace umf::hw
