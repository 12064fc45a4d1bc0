#include "traces/access/kinds.h"
#include "traces/access/mixture.h"

namespace umf::traces::access {

namespace {

const Component<MixtureConfig>& component() {
  static const auto keys = [] {
    Component<MixtureConfig> all("access.sinks",
                                 "Sinks, a window of the newest tokens, drifting heavy hitters and "
                                 "now and then a far stretch.");
    add_mixture_keys(all, true);
    return all;
  }();
  return keys;
}

class Sinks : public PageChooser {
public:
  Sinks(const MixtureConfig& config, std::uint64_t seed) : mixture_(config, seed) {}

  std::uint64_t page_tokens() const override { return mixture_.config().page; }
  bool by_head() const override { return mixture_.config().by_head; }
  bool choose(const PageAsk& ask, std::vector<std::uint64_t>& pages) override {
    pages.clear();
    mixture_.add_certain(ask, pages);
    const auto draws = static_cast<std::uint64_t>(mixture_.config().heavy_share *
                                                  static_cast<double>(mixture_.pages(ask)));
    for (std::uint64_t draw = 0; draw < draws; ++draw)
      pages.push_back(mixture_.heavy(ask, draw));
    sort_unique(pages);
    return true;
  }

private:
  Mixture mixture_;
};

} // namespace

PageKind sinks_pages() {
  return {&component().info(),
          [](const JsonValue& object, KeyContext& context,
             std::uint64_t seed) -> std::unique_ptr<PageChooser> {
            return std::make_unique<Sinks>(component().read(object, context, kNameKey), seed);
          }};
}

} // namespace umf::traces::access
