#include "traces/access/kinds.h"
#include "traces/access/mixture.h"

#include <algorithm>

namespace umf::traces::access {

namespace {

struct Config : MixtureConfig {
  std::uint64_t budget = 1024;
  std::uint32_t dense_layers = 2;
};

const Component<Config>& component() {
  static const auto keys = [] {
    Component<Config> all("access.top-k",
                          "A budget of pages that each query chooses by their keys' minima and "
                          "maxima (Quest). Reads less, keeps all.");
    all.key("budget", &Config::budget,
            {.help = "Tokens that a query reads, whole pages.",
             .min = 1,
             .max = 1'000'000'000,
             .from = Provenance::claimed,
             .source = "Quest: 256 to 4096"})
        .key("dense_layers", &Config::dense_layers,
             {.help = "First layers that read everything.",
              .min = 0,
              .max = 10'000,
              .from = Provenance::claimed,
              .source = "Quest leaves the first two alone"});
    add_mixture_keys(all, false);
    return all;
  }();
  return keys;
}

/// Which pages are critical depends on the query; they are drawn from the mixture until the budget
/// is full.
class TopK : public PageChooser {
public:
  TopK(const Config& config, std::uint64_t seed) : config_(config), mixture_(config, seed) {}

  std::uint64_t page_tokens() const override { return config_.page; }
  bool by_head() const override { return config_.by_head; }
  bool has_bounds() const override { return true; }
  bool choose(const PageAsk& ask, std::vector<std::uint64_t>& pages) override {
    const std::uint64_t all = mixture_.pages(ask);
    const std::uint64_t budget = std::max<std::uint64_t>(config_.budget / config_.page, 1);
    if (ask.layer < config_.dense_layers || all <= budget) return false;
    pages.clear();
    mixture_.add_certain(ask, pages);
    sort_unique(pages);
    if (pages.size() > budget) pages.erase(pages.begin(), pages.end() - as_distance(budget));
    add_drawn(ask, budget, pages);
    add_newest(all, budget, pages);
    return true;
  }

private:
  static std::ptrdiff_t as_distance(std::uint64_t count) {
    return static_cast<std::ptrdiff_t>(count);
  }

  /// At most so many draws as eight budgets: ranks far down the law come seldom.
  void add_drawn(const PageAsk& ask, std::uint64_t budget, std::vector<std::uint64_t>& pages) {
    std::uint64_t draw = 0;
    while (pages.size() < budget && draw < 8 * budget) {
      const std::uint64_t wanted = budget - pages.size();
      for (std::uint64_t i = 0; i < wanted; ++i)
        pages.push_back(mixture_.heavy(ask, draw++));
      sort_unique(pages);
    }
  }

  /// What the draws left over goes to the newest pages that are not among them.
  static void add_newest(std::uint64_t all, std::uint64_t budget,
                         std::vector<std::uint64_t>& pages) {
    const std::vector<std::uint64_t> had = pages;
    auto last = had.rbegin();
    for (std::uint64_t page = all; page-- > 0 && pages.size() < budget;) {
      if (last != had.rend() && *last == page)
        ++last;
      else
        pages.push_back(page);
    }
    std::sort(pages.begin(), pages.end());
  }

  Config config_;
  Mixture mixture_;
};

} // namespace

PageKind top_k_pages() {
  return {&component().info(),
          [](const JsonValue& object, KeyContext& context,
             std::uint64_t seed) -> std::unique_ptr<PageChooser> {
            return std::make_unique<TopK>(component().read(object, context, kNameKey), seed);
          }};
}

} // namespace umf::traces::access
