#pragma once

#include "model/base/random.h"
#include "traces/access/access.h"
#include "traces/generate/step.h"

#include <memory>

namespace umf::traces::generate {

/// Asks a chooser for every fresh token of every sequence.
class ChoosingRouter : public Router {
public:
  explicit ChoosingRouter(std::unique_ptr<access::ExpertChooser> chooser)
      : chooser_(std::move(chooser)) {}
  void route(std::uint32_t layer, std::span<const Sequence> batch,
             std::vector<std::uint32_t>& loads) override;

private:
  std::unique_ptr<access::ExpertChooser> chooser_;
  std::vector<std::uint32_t> experts_; ///< of the last token
};

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
