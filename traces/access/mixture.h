#pragma once

#include "model/base/random.h"
#include "traces/access/access.h"

#include <vector>

namespace umf::traces::access {

/// What attention is known to look at, as a process over the pages of a context:
/// - sinks: the first tokens, always (StreamingLLM);
/// - a window of the newest, always;
/// - heavy hitters (H2O): ranks drawn from a power law; each rank sits on a page for some steps and
///   then moves to another, ranks out of step with one another;
/// - long references: now and then a stretch somewhere in the context, the same for all layers.
struct MixtureConfig {
  std::uint32_t page = 16;    ///< tokens
  std::uint64_t sinks = 4;    ///< tokens
  std::uint64_t recent = 128; ///< tokens
  double heavy_share = 0.2;   ///< draws of heavy hitters, of the pages there are
  double alpha = 1.0;
  std::uint64_t drift = 64;             ///< steps that a rank stays on its page
  double reference = 0.02;              ///< chance of a step
  std::uint64_t reference_length = 512; ///< tokens
  bool by_head = false;
};

template <class C>
void add_mixture_keys(Component<C>& keys, bool with_share) {
  const auto at = [](auto MixtureConfig::*member) {
    return static_cast<std::remove_reference_t<decltype(std::declval<C>().*member)> C::*>(member);
  };
  keys.key("page", at(&MixtureConfig::page),
           {.help = "Tokens of a page, the unit that is chosen.",
            .min = 1,
            .max = 65'536,
            .from = Provenance::claimed,
            .source = "Quest: pages of 16 tokens"})
      .key("sinks", at(&MixtureConfig::sinks),
           {.help = "First tokens, which every query reads.",
            .min = 0,
            .max = 1'000'000,
            .from = Provenance::claimed,
            .source = "StreamingLLM: first tokens; that it is four is unverified"})
      .key("recent", at(&MixtureConfig::recent),
           {.help = "Newest tokens, which every query reads.",
            .min = 0,
            .max = 1'000'000'000,
            .from = Provenance::claimed,
            .source = "KIVI keeps 32 to 128 newest tokens in full"})
      .key("alpha", at(&MixtureConfig::alpha),
           {.help = "Exponent of the power law of heavy hitters' ranks.",
            .min = 0.0,
            .max = 8.0,
            .source = "assumed: Zipf"})
      .key("drift", at(&MixtureConfig::drift),
           {.help = "Steps after which a heavy hitter is another page.",
            .min = 1,
            .max = 1'000'000'000,
            .source = "assumed"})
      .key("reference", at(&MixtureConfig::reference),
           {.help = "Chance of a step to look at a far stretch of the context.",
            .min = 0.0,
            .max = 1.0,
            .source = "assumed"})
      .key("reference_length", at(&MixtureConfig::reference_length),
           {.help = "Tokens of such a stretch.",
            .min = 1,
            .max = 1'000'000'000,
            .source = "assumed: a section of text"})
      .key("by_head", at(&MixtureConfig::by_head),
           {.help = "Whether each KV head chooses for itself; else those of a layer choose alike.",
            .source = "pages are moved whole"});
  if (with_share)
    keys.key("heavy_share", at(&MixtureConfig::heavy_share),
             {.help = "Draws of heavy hitters, as a share of the pages there are; repeats fall "
                      "together.",
              .min = 0.0,
              .max = 16.0,
              .from = Provenance::claimed,
              .source = "H2O: a budget of 20 % keeps quality"});
}

/// Draws from the process; a pure function of seed, sequence, layer, head, tokens and draw.
class Mixture {
public:
  Mixture(const MixtureConfig& config, std::uint64_t seed);

  const MixtureConfig& config() const { return config_; }
  /// Whole pages of the context.
  std::uint64_t pages(const PageAsk& ask) const { return ask.tokens / config_.page; }
  /// First page that is read for being new.
  std::uint64_t first_recent(const PageAsk& ask) const;
  /// Sinks, window and reference, in no order and perhaps twice.
  void add_certain(const PageAsk& ask, std::vector<std::uint64_t>& pages) const;
  /// The page of one draw of a heavy hitter.
  std::uint64_t heavy(const PageAsk& ask, std::uint64_t draw) const;

private:
  std::uint64_t rank(double unit, std::uint64_t pages) const;

  MixtureConfig config_;
  RandomStream draws_, places_, references_;
};

void sort_unique(std::vector<std::uint64_t>& pages);

} // namespace umf::traces::access
