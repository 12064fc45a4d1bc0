#pragma once

#include "model/shapes/matrices.h"

#include <array>
#include <cstdint>

namespace umf::shapes {

/// By Part.
using ByPart = std::array<std::uint64_t, kParts>;
std::uint64_t sum_of(const ByPart& counts);

/// Numbers of a model, all layers.
ByPart parameters(const Model& model);
/// Of them those that one token meets: all but the routed experts it is not sent to. The embedding
/// counts whole, as publishers count.
std::uint64_t active_parameters(const Model& model);

/// Bytes on one of `tp` GPUs, scales and zero points of groups included.
ByPart weight_bytes(const Model& model, const WeightFormats& formats, std::uint32_t tp = 1);
/// Of one routed expert, whole.
Bytes expert_bytes(const Model& model, const Format& format, std::uint32_t tp = 1);

} // namespace umf::shapes
