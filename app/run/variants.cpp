#include "app/run/variants.h"

#include "app/report/json_text.h"
#include "app/run/apart.h"
#include "hw/platform/limits.h"
#include "model/base/error.h"
#include "model/base/nearest.h"
#include "model/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace umf::app {

namespace {

/// What the unit does whatever the policy: S5, staging of writes to the pool; S7, sparing a pool
/// behind a bad link; S12, deciding as a host library.
constexpr const char* kStaging = "S5";
constexpr const char* kSparing = "S7";
constexpr const char* kSoftware = "S12";

using Json = nlohmann::ordered_json;
using Summarise = std::function<Json(const ReplayRun&)>;

Json json_of(const hw::Bound& bound) {
  Json parts = Json::array();
  for (const auto& part : bound.parts) {
    parts.push_back({{"limit", part.name},
                     {"what", part.what},
                     {"ns", part.seconds * 1e9},
                     {"amount", part.amount},
                     {"per_s", part.rate}});
  }
  return {{"time", {{"simulated_ns", exact_ns(bound.time)}}},
          {"argument", bound.argument},
          {"link_bytes", bound.link_bytes.count},
          {"parts", std::move(parts)}};
}

/// Whether leaving it out would change no key.
bool is_off(const policy::Mechanism& mechanism, const KeyContext& keys) {
  return std::all_of(mechanism.off.begin(), mechanism.off.end(), [&](const auto& off) {
    std::string_view value = off.second;
    if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
    const std::string pointer = fmt::format("/policy/{}", off.first);
    return std::any_of(keys.records().begin(), keys.records().end(), [&](const KeyRecord& record) {
      return record.pointer == pointer && record.value == value;
    });
  });
}

VariantResult result_of(const Variant& variant, const Outcome& outcome) {
  VariantResult result{variant.kind, variant.name, nullptr, {}};
  if (outcome.refused)
    result.refusal = outcome.text;
  else
    // MessagePack keeps exact times (see exact_ns), which JSON text read back would round.
    result.summary = Json::from_msgpack(outcome.text);
  return result;
}

/// Something happens to a link, and something may come of it.
bool degrades(const hw::Scenario& scenario) {
  const hw::SchedulerConfig& unit = scenario.scheduler;
  const bool changes = std::any_of(scenario.links.begin(), scenario.links.end(),
                                   [](const auto& link) { return !link.options.changes.empty(); });
  return changes && (unit.degrade_below > 0 || unit.degrade_errors > 0);
}

} // namespace

std::vector<Variant> policy_variants(const ReplayRequest& base,
                                     const std::vector<std::string>& names) {
  const auto scenario = hw::read_scenario(load_scenario(base.scenario, base.sets));
  std::vector<std::string> known{kBound};
  for (const auto& kind : policy::kinds())
    known.emplace_back(kind_of(*kind.info));
  std::vector<std::string> chosen;
  const auto choose = [&](const std::string& name) {
    const bool again = std::find(chosen.begin(), chosen.end(), name) != chosen.end();
    if (!again && name != scenario.policy) chosen.push_back(name);
  };
  for (const auto& name : names) {
    if (name == "all") {
      std::for_each(known.begin(), known.end(), choose);
      continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError(fmt::format("--against: no policy {}, expected all or one of {}{}",
                                  in_quotes(name), fmt::join(known, ", "), near_hint(name, known)));
    choose(name);
  }
  std::vector<Variant> variants;
  for (const auto& name : chosen) {
    const bool bound = name == kBound;
    variants.push_back({bound ? Variant::Kind::bound : Variant::Kind::policy, name, base});
    // Last: it replaces the policy and whatever was set of its keys.
    if (!bound)
      variants.back().request.sets.push_back("/policy={\"name\":" + in_quotes(name) + "}");
    variants.back().request.progress = nullptr;
  }
  return variants;
}

std::vector<Variant> limit_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& names) {
  auto scenario = hw::read_scenario(load_scenario(base.scenario, base.sets));
  const auto limits = hw::limits_of(scenario);
  std::vector<std::string> chosen;
  for (const auto& name : names) {
    if (name == "all") {
      chosen.insert(chosen.end(), limits.begin(), limits.end());
    } else {
      hw::lift(scenario, name); // or says what is wrong with it
      chosen.push_back(name);
    }
  }
  std::vector<Variant> variants;
  for (const auto& name : chosen) {
    variants.push_back({Variant::Kind::ideal, name, base});
    variants.back().request.ideal = name;
    variants.back().request.progress = nullptr;
  }
  return variants;
}

std::vector<Variant> burst_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& sizes) {
  std::vector<Variant> variants;
  for (const auto& size : sizes) {
    variants.push_back({Variant::Kind::bursts, size, base});
    variants.back().request.sets.push_back("/scheduler/max_burst=" + in_quotes(size));
    variants.back().request.progress = nullptr;
    // Faults of the size belong to this run, not to a child of it.
    hw::read_scenario(load_scenario(base.scenario, variants.back().request.sets));
  }
  return variants;
}

std::vector<Variant> without_variants(const ReplayRequest& base,
                                      const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const auto scenario = hw::read_scenario(load_scenario(base.scenario, base.sets));
  const auto& known = policy::kind_named(scenario.policy).mechanisms;
  std::vector<std::string> ids, used;
  for (const auto& mechanism : known) {
    ids.emplace_back(mechanism.id);
    if (!is_off(mechanism, scenario.keys)) used.emplace_back(mechanism.id);
  }
  const auto add = [&](const char* id, bool in_use) {
    if (!in_use) return;
    for (auto* list : {&ids, &used})
      if (std::find(list->begin(), list->end(), id) == list->end()) list->emplace_back(id);
  };
  add(kStaging, scenario.scheduler.pool_writes == scheduler::PoolWrites::staged);
  add(kSparing, degrades(scenario));
  add(kSoftware, scenario.scheduler.operation_cost.count > 0);
  std::vector<Variant> variants;
  const auto leave_out = [&](const std::string& id) {
    const bool again = std::any_of(variants.begin(), variants.end(),
                                   [&](const Variant& variant) { return variant.name == id; });
    if (again) return;
    variants.push_back({Variant::Kind::without, id, base});
    auto& request = variants.back().request;
    request.progress = nullptr;
    if (id == kStaging) request.sets.emplace_back("/scheduler/pool_writes=\"direct\"");
    if (id == kSparing) {
      request.sets.emplace_back("/scheduler/degrade_below=0");
      request.sets.emplace_back("/scheduler/degrade_errors=0");
    }
    if (id == kSoftware) request.sets.emplace_back("/scheduler/operation_cost=\"0ns\"");
    for (const auto& mechanism : known)
      if (mechanism.id == id)
        for (const auto& [key, value] : mechanism.off)
          request.sets.push_back(fmt::format("/policy/{}={}", key, value));
  };
  for (const auto& name : names) {
    if (name == "all") {
      std::for_each(used.begin(), used.end(), leave_out);
      continue;
    }
    if (std::find(ids.begin(), ids.end(), name) == ids.end())
      throw UserError(fmt::format("--without: {} of policy {} cannot be left out, expected {}",
                                  in_quotes(name), scenario.policy,
                                  ids.empty()
                                      ? std::string("a policy with mechanisms (umf)")
                                      : fmt::format("all or one of {}", fmt::join(ids, ", "))));
    leave_out(name);
  }
  return variants;
}

std::string_view mechanism_name(std::string_view policy, std::string_view id) {
  for (const auto& mechanism : policy::kind_named(std::string(policy)).mechanisms)
    if (mechanism.id == id) return mechanism.what;
  return id == kStaging ? "staged writes" : id == kSparing ? "read-only pool" : "host software";
}

std::vector<VariantResult> run_variants(const std::vector<Variant>& variants,
                                        const Summarise& summarise, std::size_t at_most) {
  std::vector<Job> jobs;
  for (const Variant& variant : variants)
    jobs.push_back({variant.name, [&] {
                      const auto packed =
                          Json::to_msgpack(variant.kind == Variant::Kind::bound
                                               ? json_of(bound_of(variant.request))
                                               : summarise(run_replay(variant.request)));
                      return std::string(packed.begin(), packed.end());
                    }});
  const auto outcomes = run_apart(jobs, at_most);
  std::vector<VariantResult> results;
  for (std::size_t i = 0; i < variants.size(); ++i)
    results.push_back(result_of(variants[i], outcomes[i]));
  return results;
}

} // namespace umf::app
