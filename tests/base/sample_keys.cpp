#include "tests/base/sample_keys.h"

namespace umf::test {
namespace {

Component<Tier> declare_tier() {
  const auto cache = Component<Cache>("cache", "A cache in front.")
                         .key("capacity", &Cache::capacity, {.help = "Its size.", .min = 1_KiB})
                         .key("slice_bandwidth", &Cache::slice_bandwidth, {.help = "Of a slice."});
  Component<Tier> keys("tier.hbm", "Stacks of HBM.");
  keys.key("capacity", &Tier::capacity,
           {.help = "All stacks together.", .min = 1_MiB, .max = 1024_GiB, .required = true})
      .key("bandwidth", &Tier::bandwidth,
           {.help = "Peak, reads.", .from = Provenance::claimed, .source = "table 1"})
      .key("latency", &Tier::latency, {.help = "At the array.", .max = 1000_ns})
      .key("clock", &Tier::clock, {.help = "Of the data bus.", .min = Hertz{1e6}})
      .key("compute", &Tier::compute, {.help = "Near memory."})
      .key("energy", &Tier::energy, {.help = "Of a read."})
      .key("temperature", &Tier::temperature, {.help = "Of the stack."})
      .key("banks", &Tier::banks, {.help = "In a channel.", .min = 1, .max = 1024})
      .key("channels", &Tier::channels, {.help = "In a stack.", .min = 1})
      .key("reserve_ratio", &Tier::reserve_ratio, {.help = "Left free.", .min = 0, .max = 1})
      .key("refresh", &Tier::refresh, {.help = "Refreshes at all."})
      .key("behind", &Tier::behind, {.help = "The switch before it."})
      .key("row", &Tier::row, {.help = "After an access."})
      .key("limit", &Tier::limit, {.help = "Of what may be used.", .min = 1_KiB})
      .key("steps", &Tier::steps, {.help = "Of the sweep.", .min = 1_ns})
      .key("shares", &Tier::shares, {.help = "By role.", .min = 0, .max = 1})
      .group("cache", &Tier::cache, cache);
  return keys;
}

struct Head {
  std::string name = "unnamed";
  std::uint64_t gpus = 1;
};

const Component<Head>& head_keys() {
  static const auto keys = Component<Head>("scenario", "The scenario itself.")
                               .key("name", &Head::name, {.help = "Of the scenario."})
                               .key("gpus", &Head::gpus, {.help = "How many GPUs.", .min = 1});
  return keys;
}

struct Empty {};

const Component<Empty>& policy_keys(const char* name) {
  static const Component<Empty> first("policy.static", "Never moves anything.");
  static const Component<Empty> second("policy.lru", "Moves the oldest.");
  return std::string_view(name) == "static" ? first : second;
}

} // namespace

const Component<Tier>& tier_keys() {
  static const Component<Tier> keys = declare_tier();
  return keys;
}

std::vector<Section> sample_sections() {
  static const auto cache =
      Component<Cache>("gpu", "A GPU.")
          .key("capacity", &Cache::capacity, {.help = "Its size.", .required = true});
  using Shape = Section::Shape;
  return {{"name", "What it is called.", Shape::value, {&head_keys().info()}},
          {"gpus", "How many GPUs.", Shape::value, {&head_keys().info()}},
          {"gpu", "The GPU.", Shape::object, {&cache.info()}},
          {"tiers", "The memories.", Shape::map_of_kinds, {&tier_keys().info()}},
          {"policy",
           "The policy.",
           Shape::kind_object,
           {&policy_keys("static").info(), &policy_keys("lru").info()},
           "name"}};
}

} // namespace umf::test
