#include "traces/kineto/windows.h"

namespace umf::traces::kineto {

namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 30; ///< of any figure of a window

std::int64_t at(const Shape& list, std::size_t i, std::int64_t otherwise) {
  if (list.empty()) return otherwise;
  return i < list.size() ? list[i] : list.back();
}

} // namespace

std::optional<Shape> slid(const Shape& input, const Windows& windows) {
  const auto rank = windows.kernel.size();
  if (rank == 0 || rank >= input.size()) return std::nullopt;
  Shape shape = input;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto kernel = windows.kernel[i];
    const auto stride = at(windows.stride, i, 1);
    const auto padding = at(windows.padding, i, 0);
    const auto dilation = at(windows.dilation, i, 1);
    auto& size = shape[input.size() - rank + i];
    for (const auto figure : {kernel, stride, dilation, size})
      if (figure < 1 || figure > kLargest) return std::nullopt;
    if (padding < 0 || padding > kLargest) return std::nullopt;
    const auto room = size + 2 * padding - dilation * (kernel - 1) - 1;
    if (room < 0) return std::nullopt;
    size = (room + (windows.round_up ? stride - 1 : 0)) / stride + 1;
  }
  return shape;
}

} // namespace umf::traces::kineto
