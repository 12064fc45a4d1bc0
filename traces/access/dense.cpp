#include "traces/access/kinds.h"

namespace umf::traces::access {

namespace {

struct Config {};

const Component<Config>& component() {
  static const auto keys =
      Component<Config>("access.dense", "Every query reads its whole context.");
  return keys;
}

class Dense : public PageChooser {
public:
  std::uint64_t page_tokens() const override { return 1; }
  bool choose(const PageAsk&, std::vector<std::uint64_t>&) override { return false; }
};

} // namespace

PageKind dense_pages() {
  return {&component().info(),
          [](const JsonValue& object, KeyContext& context,
             std::uint64_t) -> std::unique_ptr<PageChooser> {
            component().read(object, context, kNameKey);
            return std::make_unique<Dense>();
          }};
}

} // namespace umf::traces::access
