#include "hw/platform/scenario.h"
#include "model/base/json.h"
#include "model/policy/registry.h"
#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"
#include "tests/walk/other_values.h"
#include "tests/walk/situations.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

/// Architecture rule: no key of a shipped machine may change without a change in some time,
/// traffic or counter of a replay.
namespace umf::test {

using Json = nlohmann::ordered_json;

namespace {

const std::vector<std::string> kMachines = {"a100-80g-sxm",   "h100-64g",    "h100-pcie",
                                            "h100-peer",      "h100-sxm",    "umf-small-hbm",
                                            "umf-three-tier", "umf-two-gpus"};

std::vector<std::string> parts_of(const std::string& pointer) {
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    parts.push_back(pointer.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// The declaration behind a pointer of this scenario.
const KeyInfo& declaration(const JsonValue& document, const std::string& pointer) {
  std::vector<std::string> parts = parts_of(pointer);
  for (const Section& section : hw::scenario_sections()) {
    if (section.name != parts[0]) continue;
    std::size_t begin = section.shape == Section::Shape::value ? 0 : 1;
    const JsonValue* chooser = document.find(parts[0]);
    if (section.shape == Section::Shape::map_of_kinds) chooser = chooser->find(parts[begin++]);
    for (const ComponentInfo* component : section.components) {
      const bool chosen = section.shape == Section::Shape::object ||
                          section.shape == Section::Shape::value ||
                          kind_of(*component) == chooser->find(section.kind_key)->text();
      if (!chosen) continue;
      const std::string name =
          fmt::format("{}", fmt::join(parts.begin() + static_cast<long>(begin), parts.end(), "."));
      for (const KeyInfo& key : component->keys)
        if (key.name == name) return key;
    }
  }
  throw std::runtime_error("no declaration of " + pointer);
}

/// What a replay gave, without what only repeats the scenario.
void drop_echoes(Json& value) {
  static const std::set<std::string> echoes = {
      "version", "scenario", "seed", "policy", "replay", "resolution", "gpus", "trace",
      // of the scenario, or shares of a rate in it
      "capacity_bytes", "peak_bytes_per_s", "ledger", "utilisation", "max_channel_utilisation",
      "tx_utilisation", "rx_utilisation"};
  if (!value.is_object()) return;
  for (const std::string& echo : echoes)
    value.erase(echo);
  for (auto& member : value)
    drop_echoes(member);
}

void drop_echoes_of_tenants(Json& summary) {
  for (Json& tenant : summary.at("tenants"))
    for (const char* echo : {"gpu", "gpus", "weight"})
      tenant.erase(echo);
}

bool begins_like_one(const std::string& pointer, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](const std::string& beginning) { return pointer.starts_with(beginning); });
}

class Walk {
public:
  /// `base` goes before what each situation sets.
  explicit Walk(std::string machine, std::vector<std::string> base = {})
      : machine_(std::move(machine)), base_(std::move(base)),
        document_(load_scenario(preset(machine_), base_)), baseline_(situations().size()) {}

  /// Of the keys whose pointers begin like this.
  void keys(const std::string& beginning) {
    const hw::Scenario scenario = hw::read_scenario(document_);
    std::size_t walked = 0;
    for (const KeyRecord& record : scenario.keys.records()) {
      if (!record.pointer.starts_with(beginning)) continue;
      one_key(record);
      ++walked;
    }
    WARN(fmt::format("{} {}: {} keys, {} replays", machine_, scenario.policy, walked, replays_));
    CHECK(dead_ == std::vector<std::string>{});
    CHECK(stale_ == std::vector<std::string>{});
  }

private:
  /// What a situation gives as the machine is; nothing where it cannot be.
  using Outcome = std::optional<std::string>;

  void one_key(const KeyRecord& record) {
    const bool excepted = is_excepted(record.pointer);
    std::vector<std::string> values =
        other_values(declaration(document_, record.pointer), record.value);
    if (excepted && values.size() > 1) values.resize(1); // no need to look far
    const bool effect = changes_anything(record.pointer, values);
    if (effect && excepted) stale_.push_back(record.pointer + " has an effect");
    if (!effect && !excepted)
      dead_.push_back(
          fmt::format("{} is {}, tried {}", record.pointer, record.value, fmt::join(values, ", ")));
  }

  bool is_excepted(const std::string& pointer) const {
    return std::any_of(exceptions().begin(), exceptions().end(), [&](const Exception& exception) {
      const auto& machines = exception.machines;
      return exception.pointer == pointer &&
             (machines.empty() ||
              std::find(machines.begin(), machines.end(), machine_) != machines.end());
    });
  }

  bool is_legal(const std::vector<std::string>& sets) const {
    try {
      hw::read_scenario(load_scenario(preset(machine_), sets));
      return true;
    } catch (const UserError&) {
      return false;
    }
  }

  /// Those for the key alone, or those for every key. What told the last key's values apart goes
  /// first: it tells this one's as often as not.
  std::vector<std::size_t> situations_of(const std::string& pointer, bool own) const {
    std::vector<std::size_t> list;
    for (std::size_t s = 0; s < situations().size(); ++s) {
      const auto& keys = situations()[s].keys;
      if (own ? begins_like_one(pointer, keys) : keys.empty())
        list.insert(s == last_ ? list.begin() : list.end(), s);
    }
    return list;
  }

  bool changes_anything(const std::string& pointer, const std::vector<std::string>& values) {
    for (const bool own : {true, false})
      for (const std::string& value : values)
        for (const std::size_t s : situations_of(pointer, own))
          if (changes_anything_in(s, pointer, value)) return true;
    return false;
  }

  bool changes_anything_in(std::size_t s, const std::string& pointer, const std::string& value) {
    if (!baseline_[s]) baseline_[s] = outcome(situations()[s]);
    if (!*baseline_[s] || **baseline_[s] == kTooSmall) return false;
    const Outcome other = outcome(situations()[s], {pointer + "=" + value});
    if (!other || *other == **baseline_[s]) return false;
    last_ = s;
    return true;
  }

  Outcome outcome(const Situation& situation, const std::vector<std::string>& more = {}) {
    std::vector<std::string> sets = base_;
    sets.insert(sets.end(), situation.sets.begin(), situation.sets.end());
    sets.insert(sets.end(), more.begin(), more.end());
    if (!is_legal(sets)) return {};
    ++replays_;
    std::vector<std::string> arguments = {"replay"};
    const bool lines = !situation.tier.empty();
    for (const std::string& trace : situation.traces)
      arguments.push_back(
          source_file("tests/walk/traces/" + trace + (lines ? ".trace" : ".jsonl")).string());
    if (lines)
      arguments.insert(arguments.end(), {"--resolution", "line", "--tier", situation.tier});
    arguments.insert(arguments.end(), {"--scenario", preset(machine_), "--quiet", "--out", "out"});
    for (const std::string& set : sets)
      arguments.insert(arguments.end(), {"--set", set});
    const Ended ended = umfsim(arguments, folder_.path());
    INFO(fmt::format("{}", fmt::join(arguments, " ")));
    INFO(ended.err);
    const auto refused = [&](const char* why) {
      return ended.status == 2 && ended.err.find(why) != std::string::npos;
    };
    // A capacity that became too small is an effect; a ledger out of balance a fault of ours.
    if (refused("does not fit")) return kTooSmall;
    // What a key asks of traces, no scenario alone can break.
    if (refused("no operation has a recorded time") || refused("expected an entry a trace"))
      return {};
    if (lines && refused("--tier: no memory")) return {};
    REQUIRE(ended.status == 0);
    if (lines) return line_figures();
    return situation.lengths ? lengths() : figures();
  }

  std::string figures() const {
    Json summary = Json::parse(folder_.read("out/summary.json"));
    drop_echoes(summary);
    drop_echoes_of_tenants(summary);
    return summary.dump() + folder_.read("out/kernels.csv");
  }

  std::string line_figures() const {
    Json summary = Json::parse(folder_.read("out/summary.json"));
    drop_echoes(summary);
    return summary.dump();
  }

  std::string lengths() const {
    const std::string rows = folder_.read("out/timeseries.csv");
    const Json timeline = Json::parse(folder_.read("out/timeline.json"));
    return fmt::format("{} lines, {} events", std::count(rows.begin(), rows.end(), '\n'),
                       timeline.at("traceEvents").size());
  }

  static constexpr const char* kTooSmall = "does not fit";

  std::string machine_;
  std::vector<std::string> base_;
  JsonValue document_;
  Folder folder_;
  std::vector<std::optional<Outcome>> baseline_; ///< by situation, as far as asked for
  std::vector<std::string> dead_, stale_;
  std::size_t last_ = 0, replays_ = 0;
};

} // namespace

TEST_CASE("the walk knows every shipped machine") {
  std::vector<std::string> shipped;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("scenarios/hardware")))
    if (entry.path().extension() == ".json") shipped.push_back(entry.path().stem().string());
  std::sort(shipped.begin(), shipped.end());
  CHECK(shipped == kMachines);
}

TEST_CASE("every key of a100-80g-sxm has an effect") {
  Walk("a100-80g-sxm").keys("/");
}
TEST_CASE("every key of h100-64g has an effect") {
  Walk("h100-64g").keys("/");
}
TEST_CASE("every key of h100-pcie has an effect") {
  Walk("h100-pcie").keys("/");
}
TEST_CASE("every key of what h100-peer adds to h100-sxm has an effect") {
  Walk("h100-peer").keys("/tiers/peer/");
  Walk("h100-peer").keys("/links/gpu0-peer/");
}
TEST_CASE("every key of h100-sxm has an effect") {
  Walk("h100-sxm").keys("/");
}
TEST_CASE("every key of umf-small-hbm has an effect") {
  Walk("umf-small-hbm").keys("/");
}
TEST_CASE("every key of umf-three-tier has an effect") {
  Walk("umf-three-tier").keys("/");
}

TEST_CASE("every key of umf-two-gpus has an effect") {
  Walk("umf-two-gpus").keys("/");
}

TEST_CASE("every key of every policy has an effect") {
  for (const policy::Kind& kind : policy::kinds()) {
    const std::string name(kind_of(*kind.info));
    CAPTURE(name);
    Walk("umf-small-hbm", {"policy={\"name\":\"" + name + "\"}"}).keys("/policy/");
  }
}

TEST_CASE("an exception is of a key that some machine has") {
  std::set<std::string> pointers;
  for (const std::string& machine : kMachines) {
    const hw::Scenario scenario = hw::read_scenario(load_scenario(preset(machine), {}));
    for (const KeyRecord& record : scenario.keys.records())
      pointers.insert(record.pointer);
  }
  for (const Exception& exception : exceptions()) {
    CAPTURE(exception.pointer);
    CHECK(pointers.count(exception.pointer) == 1);
    CHECK(exception.reason.size() > 0);
  }
}

} // namespace umf::test
