#include "hw/platform/scenario.h"
#include "model/base/json.h"
#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"
#include "tests/walk/other_values.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

/// Architecture rule: no key of a shipped machine may change without a change in some time,
/// traffic or counter of a replay.
namespace umf::test {

using Json = nlohmann::ordered_json;

namespace {

const std::vector<std::string> kMachines = {"a100-80g-sxm", "h100-64g",      "h100-pcie",
                                            "h100-sxm",     "umf-small-hbm", "umf-three-tier"};

/// A trace and what else is set; the first that tells a key's values apart is enough.
struct Situation {
  std::string trace;
  std::vector<std::string> sets;
};
/// Larger than HBM, and then as if this or that part were not what holds everything back.
/// Machines without the part leave the situation out.
const std::vector<std::string> kSmallHbm = {"tiers.hbm.capacity=256MiB"};
const std::vector<std::string> kManyLinks = {"tiers.hbm.capacity=256MiB", "links.gpu0-sw0.count=16",
                                             "links.sw0-cxl.count=16"};
const std::vector<std::string> kFewLinks = {
    "tiers.hbm.capacity=256MiB", R"(tiers.cxl.bandwidth={"value":"400GB/s","override":true})"};
const std::vector<std::string> kSlowLookups = {"scheduler.lookup_rate=10GHz"};
const std::vector<Situation> kSituations = {
    {"cache", {}},        {"occupancy", {}},     {"arithmetic", {}},   {"pages", {}},
    {"copies", {}},       {"streams", {}},       {"roles", {}},        {"sram", {}},
    {"roles", kSmallHbm}, {"roles", kManyLinks}, {"roles", kFewLinks}, {"cache", kSlowLookups},
};

/// Keys that may do nothing, on which machines (none named: all that have it), and why.
struct Exception {
  std::string pointer;
  std::vector<std::string> machines;
  std::string reason;
};
const std::vector<std::string> kPools = {"umf-small-hbm", "umf-three-tier"};
const char* const kEnds = "what a link joins: another end is another machine";
const char* const kBound = "bounds the bandwidth, which the machine gives";
const std::vector<Exception> kExceptions = {
    {"/name", {}, "what reports call it"},
    {"/seed", {}, "nothing is drawn at random yet"},
    {"/replay/mode", {}, "has no second value yet"},
    {"/tiers/hbm/standard", {}, kBound},
    {"/tiers/hbm/stacks", {}, kBound},
    {"/tiers/cxl/media", {"umf-three-tier"}, kBound},
    {"/tiers/cxl/channels", {"umf-three-tier"}, kBound},
    {"/tiers/cxl/behind", kPools, "says what is checked against the links"},
    {"/links/gpu0-host/from", {}, kEnds},
    {"/links/gpu0-host/to", {}, kEnds},
    {"/links/gpu0-sw0/from", kPools, kEnds},
    {"/links/gpu0-sw0/to", kPools, kEnds},
    {"/links/sw0-cxl/from", kPools, kEnds},
    {"/links/sw0-cxl/to", kPools, kEnds},
    {"/scheduler/queue_depth", {}, "no policy moves pages yet, so no access waits for a move"},
    {"/scheduler/command_queue", {}, "no policy moves pages yet"},
};

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
      "capacity_bytes", "utilisation", "max_channel_utilisation", "tx_utilisation",
      "rx_utilisation"};
  if (!value.is_object()) return;
  for (const std::string& echo : echoes)
    value.erase(echo);
  for (auto& member : value)
    drop_echoes(member);
}

class Walk {
public:
  explicit Walk(std::string machine)
      : machine_(std::move(machine)), document_(load_scenario(preset(machine_), {})) {
    for (const Situation& situation : kSituations) {
      const bool legal = is_legal(situation.sets);
      baseline_.push_back(legal ? replay(situation.trace, situation.sets) : kTooSmall);
    }
  }

  void all_keys() {
    const hw::Scenario scenario = hw::read_scenario(document_);
    for (const KeyRecord& record : scenario.keys.records())
      one_key(record);
    WARN(
        fmt::format("{}: {} keys, {} replays", machine_, scenario.keys.records().size(), replays_));
    CHECK(dead_ == std::vector<std::string>{});
    CHECK(stale_ == std::vector<std::string>{});
  }

private:
  void one_key(const KeyRecord& record) {
    const bool excepted = is_excepted(record.pointer);
    std::vector<std::string> values =
        other_values(declaration(document_, record.pointer), record.value);
    if (excepted && values.size() > 1) values.resize(1); // no need to look far
    const bool effect = std::any_of(values.begin(), values.end(), [&](const std::string& value) {
      return changes_anything(record.pointer + "=" + value);
    });
    if (effect && excepted) stale_.push_back(record.pointer + " has an effect");
    if (!effect && !excepted)
      dead_.push_back(
          fmt::format("{} is {}, tried {}", record.pointer, record.value, fmt::join(values, ", ")));
  }

  bool is_excepted(const std::string& pointer) const {
    return std::any_of(kExceptions.begin(), kExceptions.end(), [&](const Exception& exception) {
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

  bool changes_anything(const std::string& set) {
    // What told the last key's values apart tells this one's, as often as not.
    std::vector<std::size_t> order = {last_};
    for (std::size_t s = 0; s < kSituations.size(); ++s)
      if (s != last_) order.push_back(s);
    for (const std::size_t s : order) {
      if (baseline_[s] == kTooSmall) continue;
      std::vector<std::string> sets = kSituations[s].sets;
      sets.push_back(set);
      if (!is_legal(sets) || replay(kSituations[s].trace, sets) == baseline_[s]) continue;
      last_ = s;
      return true;
    }
    return false;
  }

  std::string replay(const std::string& trace, const std::vector<std::string>& sets) {
    ++replays_;
    const auto file = source_file("tests/walk/traces/" + trace + ".jsonl");
    std::vector<std::string> arguments = {"replay",  file.string(), "--scenario", preset(machine_),
                                          "--quiet", "--out",       "out"};
    for (const std::string& set : sets) {
      arguments.emplace_back("--set");
      arguments.push_back(set);
    }
    const Ended ended = umfsim(arguments, folder_.path());
    INFO(machine_ << ", " << trace << ", " << fmt::format("{}", fmt::join(sets, " ")));
    INFO(ended.err);
    // A capacity that became too small is an effect; a ledger out of balance a fault of ours.
    const bool too_small = ended.err.find("does not fit") != std::string::npos;
    if (ended.status == 2 && too_small) return kTooSmall;
    REQUIRE(ended.status == 0);
    Json summary = Json::parse(folder_.read("out/summary.json"));
    drop_echoes(summary);
    return summary.dump() + folder_.read("out/kernels.csv");
  }

  static constexpr const char* kTooSmall = "does not fit";

  std::string machine_;
  JsonValue document_;
  Folder folder_;
  std::vector<std::string> baseline_;
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
  Walk("a100-80g-sxm").all_keys();
}
TEST_CASE("every key of h100-64g has an effect") {
  Walk("h100-64g").all_keys();
}
TEST_CASE("every key of h100-pcie has an effect") {
  Walk("h100-pcie").all_keys();
}
TEST_CASE("every key of h100-sxm has an effect") {
  Walk("h100-sxm").all_keys();
}
TEST_CASE("every key of umf-small-hbm has an effect") {
  Walk("umf-small-hbm").all_keys();
}
TEST_CASE("every key of umf-three-tier has an effect") {
  Walk("umf-three-tier").all_keys();
}

TEST_CASE("an exception is of a key that some machine has") {
  std::set<std::string> pointers;
  for (const std::string& machine : kMachines) {
    const hw::Scenario scenario = hw::read_scenario(load_scenario(preset(machine), {}));
    for (const KeyRecord& record : scenario.keys.records())
      pointers.insert(record.pointer);
  }
  for (const Exception& exception : kExceptions) {
    CAPTURE(exception.pointer);
    CHECK(pointers.count(exception.pointer) == 1);
    CHECK(exception.reason.size() > 0);
  }
}

} // namespace umf::test
