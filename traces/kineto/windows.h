#pragma once

#include "traces/kineto/operands.h"

#include <optional>

namespace umf::traces::kineto {

/// A window that slides over the last dimensions of a tensor. Shorter lists repeat their one
/// figure; empty ones mean 1, or 0 for padding.
struct Windows {
  Shape kernel;
  Shape stride;
  Shape padding;
  Shape dilation;
  bool round_up = false;
};

/// The shape after sliding: (size + 2·padding − dilation·(kernel − 1) − 1) / stride + 1 in
/// each of the last dimensions. Nothing when the window does not fit.
std::optional<Shape> slid(const Shape& input, const Windows& windows);

} // namespace umf::traces::kineto
