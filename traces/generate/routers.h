#pragma once

#include "model/base/random.h"
#include "traces/generate/step.h"

namespace umf::traces::generate {

/// Each token takes top_k different experts, all equally likely.
class UniformRouter : public Router {
public:
  UniformRouter(const shapes::Model& model, std::uint64_t seed);
  void route(std::uint32_t layer, std::span<const Sequence> batch,
             std::vector<std::uint32_t>& loads) override;

private:
  std::uint32_t experts_, top_k_;
  RandomStream random_;
  std::vector<std::uint32_t> order_; ///< a permutation, shuffled as far as it is drawn from
};

} // namespace umf::traces::generate
