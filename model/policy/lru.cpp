#include "model/policy/paging.h"

namespace umf::policy {

namespace {

const Component<PagingKeys>& component() {
  static const auto keys = paging_component<PagingKeys>(
      "policy.lru", "Demand paging: an access to a page outside HBM faults and waits until it is "
                    "there; the least recently used leave.");
  return keys;
}

/// Exact LRU over blocks, by what reaches the scheduler; CUDA's driver sees faults only, so this
/// is the better half of what it does.
class Lru : public Paging {
public:
  using Paging::Paging;

private:
  std::uint64_t rank(std::uint64_t) override { return ++uses_; }

  std::uint64_t uses_ = 0;
};

} // namespace

Kind lru() {
  return {&component().info(),
          "Demand paging: what is not in HBM is waited for, and what was not used longest leaves.",
          [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
            return std::make_unique<Lru>(component().read(object, context, kNameKey));
          }};
}

} // namespace umf::policy
