#include "tests/system/fault_campaign.h"

#include "model/base/random.h"
#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace umf::test {

namespace {

using Json = nlohmann::json;

constexpr const char* kLinks[] = {"gpu0-sw0", "sw0-cxl", "gpu0-host"};
constexpr std::uint64_t kSpanUs = 400; ///< about as long as a run without faults

/// Passes over 4 to 12 layers of a weight and a KV cache each, 6 to 40 MiB in all against 8 MiB
/// of HBM; every pass appends to the caches and reads what they have so far.
void write_trace(const std::filesystem::path& file, RandomStream& random) {
  constexpr std::uint64_t kKiB = 1024;
  std::ofstream out(file);
  const auto put = [&](const Json& record) { out << record.dump() << '\n'; };
  const std::uint64_t layers = 4 + random.next_below(9);
  const std::uint64_t weight = (512 + random.next_below(1536)) * kKiB;
  const std::uint64_t cache = (256 + random.next_below(1024)) * kKiB;
  const std::uint64_t passes = 2 + random.next_below(4);
  put({{"umfsim-stream", 1},
       {"format", "campaign"},
       {"source", "a test"},
       {"devices", {{{"id", 0}, {"name", "GPU"}}}}});
  const auto tensor = [&](std::uint64_t id, const char* role, std::uint64_t bytes) {
    put({{"record", "tensor"},
         {"id", id},
         {"name", fmt::format("t{}", id)},
         {"role", role},
         {"dtype", "bf16"},
         {"bytes", bytes}});
  };
  for (std::uint64_t l = 0; l < layers; ++l) {
    tensor(l, "weight", weight);
    tensor(100 + l, l % 2 == 0 ? "kv-key" : "kv-value", cache);
  }
  for (const std::uint64_t side : {0, 1})
    tensor(200 + side, "activation", 256 * kKiB);
  const auto access = [](std::uint64_t of, std::uint64_t offset, std::uint64_t length, bool write) {
    return Json{{"tensor", of},
                {"rule", "recorded"},
                {"offset_bytes", offset},
                {"length_bytes", length},
                {"write", write}};
  };
  for (std::uint64_t k = 0; k < layers * passes; ++k) {
    const std::uint64_t layer = k % layers, pass = k / layers, part = cache / passes;
    const std::uint64_t from = pass * part;
    Json accesses = {access(layer, 0, weight, false), access(100 + layer, from, part, true),
                     access(200 + k % 2, 0, 256 * kKiB, false),
                     access(200 + (k + 1) % 2, 0, 256 * kKiB, true)};
    if (pass > 0) accesses.push_back(access(100 + layer, 0, from, false));
    put({{"record", "kernel"},
         {"id", k},
         {"name", "layer"},
         {"grid", {1056, 1, 1}},
         {"block", {256, 1, 1}},
         {"rule", "recorded"},
         {"accesses", accesses}});
  }
}

std::string changes(RandomStream& random) {
  Json list = Json::array();
  std::uint64_t at = 0, good = 0;
  for (std::uint64_t left = random.next_below(5); left > 0; --left) {
    at += 1 + random.next_below(kSpanUs / 2);
    if (random.next_below(3) == 0 && at >= good) {
      const std::uint64_t lasts = 1 + random.next_below(kSpanUs / 2);
      list.push_back(
          fmt::format("{}us errors 1e-{} for {}us", at, 1 + random.next_below(4), lasts));
      good = at + lasts;
    } else {
      list.push_back(
          fmt::format("{}us gen{} x{}", at, 1 + random.next_below(5), 1u << random.next_below(5)));
    }
  }
  return list.dump();
}

std::vector<std::string> machine(RandomStream& random) {
  std::vector<std::string> sets = {"tiers.hbm.capacity=8MiB", "tiers.sram.capacity=1MiB",
                                   "gpu.l2.capacity=2MiB", "scheduler.recover_after=20us"};
  for (const char* link : kLinks) {
    sets.push_back(fmt::format("links.{}.training.changes={}", link, changes(random)));
    sets.push_back(fmt::format("links.{}.training.recovery={}us", link, 10 * random.next_below(3)));
  }
  sets.push_back(random.next_below(2) == 0
                     ? R"(policy={"name":"lru","block":"256KiB"})"
                     : R"(policy={"name":"umf","block":"256KiB","spread_least":"64KiB"})");
  if (random.next_below(2) == 0) {
    sets.emplace_back("scheduler.pool_writes=staged");
    sets.emplace_back(random.next_below(2) == 0 ? "scheduler.staging=128KiB"
                                                : "scheduler.forward_from_staging=true");
  }
  if (random.next_below(3) == 0) sets.emplace_back("tiers.host.capacity=1MiB"); // no way round
  return sets;
}

/// One seed's replay, in a folder of its own.
class Run {
public:
  explicit Run(std::uint64_t seed) : seed_(seed) {
    RandomStream random(seed, "fault campaign");
    write_trace(folder_.path() / "t.jsonl", random);
    words_ = {"replay",  "t.jsonl", "--scenario", preset("umf-small-hbm"),
              "--quiet", "--out",   "out"};
    for (const std::string& set : machine(random))
      words_.insert(words_.end(), {"--set", set});
    logged_ = seed % 10 == 0;
    if (logged_) words_.insert(words_.end(), {"--log-out", "run.log"});
    child_ = std::make_unique<Child>(words_, folder_.path());
  }

  void end(Campaign& all) {
    Ended ended = child_->wait();
    ++all.runs;
    if (ended.status == 0 && logged_)
      ended = umfsim({"replay", "--log-in", "run.log"}, folder_.path());
    if (ended.status != 0) {
      all.failures += fmt::format("seed {}: {}\n", seed_, ended.err);
      for (const std::string& word : words_)
        all.failures += "'" + word + "' ";
      all.failures += "\n";
      return;
    }
    const Json unit = Json::parse(folder_.read("out/summary.json")).at("scheduler");
    all.degraded += unit.at("degraded_ns") > 0;
    all.moved += unit.at("migrated_bytes").get<std::uint64_t>();
    all.synced += unit.at("worm_syncs").get<std::uint64_t>();
    all.forced += unit.at("degrade").at("forced_writes").get<std::uint64_t>();
  }

private:
  std::uint64_t seed_;
  Folder folder_;
  std::vector<std::string> words_;
  bool logged_ = false;
  std::unique_ptr<Child> child_;
};

} // namespace

Campaign fault_campaign(std::uint64_t first, std::uint64_t seeds) {
  constexpr std::size_t kAtOnce = 2;
  Campaign all;
  std::deque<Run> runs;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    if (runs.size() == kAtOnce) {
      runs.front().end(all);
      runs.pop_front();
    }
    runs.emplace_back(seed);
  }
  for (Run& run : runs)
    run.end(all);
  return all;
}

} // namespace umf::test
