#include "hw/platform/scenario.h"

#include "hw/platform/topology.h"
#include "model/base/compact_json.h"
#include "model/base/quantity.h"
#include "model/policy/registry.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace umf::hw {

namespace {

const Component<GeneralConfig>& general_component() {
  static const auto keys =
      Component<GeneralConfig>("scenario", "The scenario itself.")
          .key("name", &GeneralConfig::name, {.help = "What reports call it.", .required = true})
          .key("gpus", &GeneralConfig::gpus,
               {.help = "GPUs, each with its own scheduler and on-package memory.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("seed", &GeneralConfig::seed,
               {.help = "Seed of everything drawn at random.",
                .from = Provenance::derived,
                .source = "any"});
  return keys;
}

const Component<ReportConfig>& report_component() {
  static const auto keys =
      Component<ReportConfig>("report", "How much a run writes down; it changes no figure.")
          .key("window", &ReportConfig::window,
               {.help = "Shortest window of timeseries.csv; windows double as the run grows long.",
                .min = Femtoseconds{1000},
                .from = Provenance::derived,
                .source = "about one kernel"})
          .key("rows", &ReportConfig::rows,
               {.help = "Most rows of timeseries.csv (an odd number counts as the even one below).",
                .min = 2,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "a plot has a few thousand points"})
          .key("timeline_events", &ReportConfig::timeline_events,
               {.help = "Most events of timeline.json: the longest slices stay, counters thin out.",
                .min = 100,
                .max = 10'000'000,
                .from = Provenance::derived,
                .source = "trace viewers open hundreds of thousands of events at once"});
  return keys;
}

std::vector<Section> make_sections() {
  const auto infos = [](auto kinds) {
    std::vector<const ComponentInfo*> list;
    for (const auto& kind : kinds)
      list.push_back(kind.info);
    return list;
  };
  using Shape = Section::Shape;
  const ComponentInfo* general = &general_component().info();
  std::vector<Section> sections;
  for (const auto& key : general->keys)
    sections.push_back({key.name, key.help, Shape::value, {general}});
  sections.push_back({"gpu", "The GPU die.", Shape::object, {&gpu_component().info()}});
  sections.push_back({"tiers", "Memories, by name.", Shape::map_of_kinds, infos(tier_kinds())});
  sections.push_back({"links", "Links, by name.", Shape::map_of_kinds, infos(link_kinds())});
  sections.push_back({"switches",
                      "Switches and root complexes that need keys of their own, by name.",
                      Shape::map_of_kinds,
                      {&pcie_switch_component().info()}});
  sections.push_back({"dram",
                      "DRAM standards that are not shipped, or changes to those that are, by name.",
                      Shape::map_of_kinds,
                      {&dram::standard_component().info()}});
  sections.push_back(
      {"scheduler", "The memory scheduler unit.", Shape::object, {&scheduler_component().info()}});
  Section policy{"policy", "Who decides where pages live.", Shape::kind_object,
                 infos(policy::kinds())};
  policy.kind_key = std::string(policy::kNameKey);
  sections.push_back(policy);
  sections.push_back(
      {"replay", "How traces are replayed.", Shape::object, {&replay_component().info()}});
  sections.push_back({"serving",
                      "How serve-sim batches requests; no replay of kernels has a use for it.",
                      Shape::object,
                      {&serving::component().info()}});
  sections.push_back(
      {"report", "How much a run writes down.", Shape::object, {&report_component().info()}});
  return sections;
}

const Section& section(std::string_view name) {
  for (const Section& s : scenario_sections())
    if (s.name == name) return s;
  throw InvariantError("no such section");
}

/// The object of a section; an empty one, placed where it would stand, when left out.
JsonValue object_of(const JsonValue& document, std::string_view name) {
  if (const JsonValue* given = document.find(name)) return *given;
  Place place = document.place();
  place.pointer += "/" + std::string(name);
  return JsonValue::empty_object(place);
}

template <class Each>
void each_member(const JsonValue& document, std::string_view name, KeyContext& context, Each each) {
  const JsonValue map = object_of(document, name);
  if (!map.is_object()) {
    context.fault(map.place(), map.found() + ", expected an object of name: {\"kind\": …}");
    return;
  }
  for (const auto& member : map.members()) {
    const ComponentInfo* info = read_kind(member.value, section(name), context);
    if (info != nullptr) each(member, info);
  }
}

void read_tiers(const JsonValue& document, Scenario& scenario) {
  each_member(document, "tiers", scenario.keys, [&](const auto& member, const ComponentInfo* info) {
    for (const TierKind& kind : tier_kinds()) {
      if (kind.info != info) continue;
      auto spec = kind.read(member.value, scenario.keys);
      spec->name = member.name;
      spec->kind = kind_of(*info);
      spec->pointer = member.value.place().pointer;
      scenario.tiers.push_back(std::move(spec));
    }
  });
}

/// What tiers refer to by name.
void resolve_tiers(const JsonValue& document, Scenario& scenario) {
  const dram::Standards standards(object_of(document, "dram"), scenario.keys);
  for (const auto& tier : scenario.tiers)
    tier->resolve(standards, scenario.keys);
}

void read_links(const JsonValue& document, Scenario& scenario) {
  each_member(document, "links", scenario.keys, [&](const auto& member, const ComponentInfo* info) {
    for (const LinkKind& kind : link_kinds())
      if (kind.info == info)
        scenario.links.push_back(kind.read(member.value, member.name, scenario.keys));
  });
  each_member(document, "switches", scenario.keys, [&](const auto& member, const ComponentInfo*) {
    scenario.switches[member.name] = pcie_switch_component().read(member.value, scenario.keys);
  });
}

void read_policy(const JsonValue& document, Scenario& scenario) {
  const JsonValue object = object_of(document, "policy");
  const ComponentInfo* info = read_kind(object, section("policy"), scenario.keys);
  if (info == nullptr) return;
  scenario.policy = kind_of(*info);
  scenario.policy_json = compact_json(object);
  for (const policy::Kind& kind : policy::kinds()) {
    if (kind.info != info) continue;
    scenario.policies.push_back(kind.make(object, scenario.keys));
    KeyContext again; // the same keys; their faults are already known
    for (std::uint32_t g = 1; g < scenario.general.gpus; ++g)
      scenario.policies.push_back(kind.make(object, again));
  }
}

std::uint64_t hash_of(const KeyContext& keys, std::string all) {
  for (const KeyRecord& record : keys.records())
    if (!record.pointer.starts_with("/report/")) all += record.pointer + " " + record.value + "\n";
  return XXH3_64bits(all.data(), all.size());
}

/// Apart from the machine's keys: no replay depends on them.
void read_serving(const JsonValue& document, Scenario& scenario) {
  KeyContext keys;
  scenario.serving = serving::component().read(object_of(document, "serving"), keys, "");
  serving::check(scenario.serving, "/serving", keys);
  for (const UserError& fault : keys.faults())
    scenario.keys.fault(fault);
  scenario.serving_hash = hash_of(keys, {});
}

} // namespace

std::span<const Section> scenario_sections() {
  static const std::vector<Section> sections = make_sections();
  return sections;
}

Scenario read_scenario(const JsonValue& document) {
  Scenario scenario;
  report_unknown_sections(document, scenario_sections(), scenario.keys);
  scenario.general = general_component().read_known(document, scenario.keys);
  scenario.gpu = gpu_component().read(object_of(document, "gpu"), scenario.keys, "");
  scenario.scheduler =
      scheduler_component().read(object_of(document, "scheduler"), scenario.keys, "");
  check_scheduler(scenario.scheduler, "/scheduler", scenario.keys);
  if (scenario.scheduler.page.count % scenario.gpu.l2.sector.count != 0)
    scenario.keys.fault(
        scenario.keys.place_of("/gpu/l2/sector"),
        fmt::format("{} does not divide a page of {}, expected a power of two such as "
                    "\"32B\"",
                    print(scenario.gpu.l2.sector), print(scenario.scheduler.page)));
  scenario.replay = replay_component().read(object_of(document, "replay"), scenario.keys, "");
  check_replay(scenario.replay, scenario.general.gpus, scenario.keys);
  scenario.report = report_component().read(object_of(document, "report"), scenario.keys, "");
  read_tiers(document, scenario);
  resolve_tiers(document, scenario);
  read_links(document, scenario);
  read_policy(document, scenario);
  read_serving(document, scenario);
  scenario.keys.throw_if_faulty();
  check_topology(scenario);
  scenario.keys.throw_if_faulty();
  scenario.hash = hash_of(scenario.keys, "policy " + scenario.policy + "\n");
  return scenario;
}

} // namespace umf::hw
