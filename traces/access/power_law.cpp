#include "traces/access/kinds.h"

#include "model/base/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

/// Routing by a power law over each layer's experts, in an order of its own, with what a sequence's
/// last tokens took made likelier or less likely.
namespace umf::traces::access {

namespace {

struct Config {
  double alpha = 1.01;
  double stay = 0.0;
  double avoid = 0.0;
  std::uint32_t memory = 1;
};

struct Uniform : Config {
  Uniform() { alpha = 0; }
};

/// Towards Qwen3-30B-A3B: 0.9 new experts a layer and token, LRU 88.7 %.
struct Local : Config {
  Local() {
    alpha = 1.2;
    stay = 0.82;
  }
};

/// Towards DeepSeek-V4-Flash: LRU 8-18 %, most used experts pinned 46 %.
struct Scattered : Config {
  Scattered() {
    alpha = 1.15;
    avoid = 0.75;
    memory = 3;
  }
};

template <class C>
const Component<C>& component(const char* name, const char* help, const char* source) {
  static const auto keys =
      Component<C>(name, help)
          .key("alpha", static_cast<double C::*>(&C::alpha),
               {.help = "Exponent of the power law of experts' popularity in a layer; 0: all "
                        "alike.",
                .min = 0.0,
                .max = 8.0,
                .from = Provenance::fitted,
                .source = source})
          .key(
              "stay", static_cast<double C::*>(&C::stay),
              {.help = "Chance of an expert of a sequence's last token to be its next token's too.",
               .min = 0.0,
               .max = 1.0,
               .from = Provenance::fitted,
               .source = source})
          .key("avoid", static_cast<double C::*>(&C::avoid),
               {.help = "Chance of a drawn expert that the last tokens took to be drawn again.",
                .min = 0.0,
                .max = 0.99,
                .from = Provenance::fitted,
                .source = source})
          .key("memory", static_cast<std::uint32_t C::*>(&C::memory),
               {.help = "How many last tokens `avoid` looks at.",
                .min = 1,
                .max = 16,
                .from = Provenance::fitted,
                .source = source});
  return keys;
}

class PowerLaw : public ExpertChooser {
public:
  PowerLaw(const Config& config, const Experts& experts, std::uint64_t seed)
      : config_(config), experts_(experts), random_(seed, "routing.draws") {
    double sum = 0;
    for (std::uint32_t rank = 1; rank <= experts.experts; ++rank)
      shares_.push_back(sum += std::pow(rank, -config.alpha));
    RandomStream orders(seed, "routing.orders");
    orders_.resize(std::size_t{experts.layers} * experts.experts);
    for (std::uint32_t layer = 0; layer < experts.layers; ++layer)
      shuffle(orders_.data() + std::size_t{layer} * experts.experts, orders);
    used_.assign(experts.experts, 0);
  }

  void choose(std::uint64_t sequence, std::uint32_t layer,
              std::vector<std::uint32_t>& experts) override {
    experts.clear();
    History& last = history(sequence, layer);
    const std::uint64_t k = experts_.top_k;
    ++now_; // marks in used_ are of this choice alone: 2 × now taken, 2 × now - 1 avoided
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(last.tokens, config_.memory) * k; ++i)
      used_[last.experts[i]] = 2 * now_ - 1;
    if (last.tokens != 0 && config_.stay > 0)
      for (std::uint64_t i = 0; i < k; ++i)
        if (random_.next_unit() < config_.stay) take(last.experts[(last.newest * k) + i], experts);
    while (experts.size() < k)
      draw(layer, experts);
    remember(last, experts);
  }

private:
  /// Experts of the last tokens: a ring of `memory` of them.
  struct History {
    std::vector<std::uint32_t> experts;
    std::uint64_t tokens = 0, newest = 0;
  };

  void shuffle(std::uint32_t* order, RandomStream& random) const {
    std::iota(order, order + experts_.experts, 0u);
    for (std::uint32_t i = experts_.experts; i > 1; --i)
      std::swap(order[i - 1], order[random.next_below(i)]);
  }

  History& history(std::uint64_t sequence, std::uint32_t layer) {
    const std::size_t at = sequence * experts_.layers + layer;
    if (histories_.size() <= at) histories_.resize(at + 1);
    History& found = histories_[at];
    if (found.experts.empty()) found.experts.resize(std::size_t{config_.memory} * experts_.top_k);
    return found;
  }

  void take(std::uint32_t expert, std::vector<std::uint32_t>& experts) {
    if (used_[expert] == 2 * now_) return;
    used_[expert] = 2 * now_;
    experts.push_back(expert);
  }

  void draw(std::uint32_t layer, std::vector<std::uint32_t>& experts) {
    const double at = random_.next_unit() * shares_.back();
    const auto rank = std::upper_bound(shares_.begin(), shares_.end() - 1, at) - shares_.begin();
    const std::uint32_t expert =
        orders_[std::size_t{layer} * experts_.experts + static_cast<std::size_t>(rank)];
    if (used_[expert] == 2 * now_ - 1 && random_.next_unit() < config_.avoid) return;
    take(expert, experts);
  }

  void remember(History& last, const std::vector<std::uint32_t>& experts) const {
    last.newest = last.tokens == 0 ? 0 : (last.newest + 1) % config_.memory;
    ++last.tokens;
    std::copy(experts.begin(), experts.end(),
              last.experts.begin() + static_cast<std::ptrdiff_t>(last.newest * experts_.top_k));
  }

  Config config_;
  Experts experts_;
  RandomStream random_;
  std::vector<double> shares_;        ///< running sums, by rank
  std::vector<std::uint32_t> orders_; ///< by layer and rank
  std::vector<std::uint64_t> used_;   ///< by expert
  std::uint64_t now_ = 0;
  std::vector<History> histories_; ///< by sequence and layer
};

template <class C>
std::unique_ptr<ExpertChooser> make_with(const Component<C>& keys, const JsonValue& object,
                                         KeyContext& context, const Experts& experts,
                                         std::uint64_t seed) {
  return std::make_unique<PowerLaw>(keys.read(object, context, kNameKey), experts, seed);
}

const Component<Uniform>& uniform() {
  return component<Uniform>("routing.uniform", "All experts are equally likely.", "no preference");
}

const Component<Config>& power_law() {
  return component<Config>("routing.power-law",
                           "Few experts take most tokens, whatever came before.",
                           "AIConfigurator, docs/POWER_LAW_DISTRIBUTION.md: 1.01 for DeepSeek-R1, "
                           "1.2 for Qwen3-235B, fitted by latency");
}

const Component<Local>& local() {
  return component<Local>(
      "routing.expert-local", "A sequence's next token takes most of its last token's experts.",
      "fitted to LRU 88.7 % on Qwen3-30B-A3B (kekzl/imp PR 1365), 16 experts of "
      "a layer cached, which is assumed");
}

const Component<Scattered>& scattered() {
  return component<Scattered>("routing.expert-scattered",
                              "Popular experts, but seldom the ones just used.",
                              "fitted to LRU 8-18 % and pinned 40/46/52 % of 500/700/900 slots on "
                              "DeepSeek-V4-Flash (FreeToken 174)");
}

} // namespace

ExpertKind uniform_experts() {
  return {&uniform().info(),
          [](const JsonValue& object, KeyContext& context, const Experts& experts,
             std::uint64_t seed) { return make_with(uniform(), object, context, experts, seed); }};
}

ExpertKind power_law_experts() {
  return {&power_law().info(), [](const JsonValue& object, KeyContext& context,
                                  const Experts& experts, std::uint64_t seed) {
            return make_with(power_law(), object, context, experts, seed);
          }};
}

ExpertKind local_experts() {
  return {&local().info(),
          [](const JsonValue& object, KeyContext& context, const Experts& experts,
             std::uint64_t seed) { return make_with(local(), object, context, experts, seed); }};
}

ExpertKind scattered_experts() {
  return {&scattered().info(), [](const JsonValue& object, KeyContext& context,
                                  const Experts& experts, std::uint64_t seed) {
            return make_with(scattered(), object, context, experts, seed);
          }};
}

} // namespace umf::traces::access
