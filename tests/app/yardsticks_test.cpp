#include "model/base/random.h"
#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>

/// The yardsticks on the ladder: bound, best-static, belady.
namespace umf::test {

using Json = nlohmann::json;

namespace {

struct Rung {
  double ns = 0;
  std::uint64_t fetched = 0, faults = 0;
};

/// Every policy's figures, "bound" among them; each run's ledger must balance. Refused ones are
/// left out.
std::map<std::string, Rung> ladder(const Folder& folder, const std::string& trace,
                                   const std::string& machine, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"replay",  trace,       "--scenario", preset(machine),
                                        "--out",   "out",       "--policy",   "remote-read",
                                        "--quiet", "--against", "all"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(machine, ended.err);
  REQUIRE(ended.status == 0);
  const Json summary = Json::parse(folder.read("out/summary.json"));
  std::map<std::string, Rung> rungs;
  const auto add = [&](const std::string& name, const Json& run) {
    CHECK(run.at("ledger").at("ok") == true);
    rungs[name] = {run.at("time").at("simulated_ns").get<double>(),
                   run.at("scheduler").at("promotions").get<std::uint64_t>(),
                   run.at("scheduler").at("faults").get<std::uint64_t>()};
  };
  add("remote-read", summary);
  for (const Json& rung : summary.at("against"))
    if (!rung.contains("refused")) add(rung.at("policy").get<std::string>(), rung);
  const Json& bound = summary.at("bound");
  rungs["bound"].ns = bound.at("time").at("simulated_ns").get<double>();
  rungs["bound"].fetched = bound.at("link_bytes").get<std::uint64_t>() / (64 << 10);
  double parts = 0;
  for (const Json& part : bound.at("parts"))
    parts += part.at("ns").get<double>();
  CHECK(parts == Approx(rungs["bound"].ns));
  return rungs;
}

void check_bound(const std::map<std::string, Rung>& rungs) {
  for (const auto& [name, rung] : rungs) {
    CAPTURE(name);
    CHECK(rung.ns >= rungs.at("bound").ns);
  }
}

std::string line(const Json& record) {
  return record.dump() + "\n";
}

Json access(unsigned tensor, std::uint64_t offset, std::uint64_t bytes, bool write) {
  return {{"tensor", tensor},
          {"rule", "recorded"},
          {"offset_bytes", offset},
          {"length_bytes", bytes},
          {"write", write}};
}

/// Weights and short-lived tensors of up to 4 MiB on one stream or three, with copies.
std::string drawn(std::uint64_t seed) {
  RandomStream random(seed, "yardsticks");
  const std::uint64_t streams = seed % 2 == 0 ? 1 : 3;
  std::string text = kStreamHeader;
  std::vector<std::pair<unsigned, std::uint64_t>> alive;
  unsigned next = 0;
  const auto tensor = [&](const char* role) {
    const std::uint64_t bytes = (1 + random.next_below(64)) << 16;
    text += line({{"record", "tensor"},
                  {"id", next},
                  {"name", fmt::format("t{}", next)},
                  {"role", role},
                  {"bytes", bytes}});
    alive.emplace_back(next++, bytes);
  };
  for (int w = 0; w < 8; ++w)
    tensor(w % 4 == 3 ? "kv-key" : "weight");
  for (unsigned k = 0; k < 60; ++k) {
    if (random.next_below(4) == 0) tensor("activation");
    const auto stream = static_cast<std::int64_t>(random.next_below(streams));
    if (random.next_below(12) == 0) {
      static const char* const kinds[] = {"host-to-device", "device-to-host", "memset"};
      text += line({{"record", "copy"},
                    {"id", k},
                    {"kind", kinds[random.next_below(3)]},
                    {"stream", stream},
                    {"bytes", (1 + random.next_below(32)) << 15}});
      continue;
    }
    Json accesses = Json::array();
    for (std::uint64_t a = 0; a < 1 + random.next_below(4); ++a) {
      const auto [id, bytes] = alive[random.next_below(alive.size())];
      const std::uint64_t offset = random.next_below(bytes / 2);
      accesses.push_back(
          access(id, offset, 1 + random.next_below(bytes - offset), random.next_below(3) == 0));
    }
    Json kernel = {
        {"record", "kernel"}, {"id", k}, {"name", "k"}, {"stream", stream}, {"accesses", accesses}};
    if (random.next_below(3) == 0) {
      kernel["flops"] = 1e6 * static_cast<double>(1 + random.next_below(10000));
      kernel["flops_dtype"] = "f16";
    }
    if (random.next_below(2) == 0) {
      kernel["grid"] = {1 + random.next_below(2000), 1, 1};
      kernel["block"] = {256, 1, 1};
    }
    text += line(kernel);
    if (alive.size() > 12) {
      text += line({{"record", "free"}, {"tensor", alive[8].first}});
      alive.erase(alive.begin() + 8);
    }
    if (random.next_below(10) == 0)
      text += line({{"record", "sync"},
                    {"waiting", {{"stream", random.next_below(streams)}}},
                    {"awaited", {{"stream", random.next_below(streams)}}},
                    {"host_waits", random.next_below(2) == 0}});
  }
  return text;
}

/// `turns` scans of `count` weights of 2 MiB.
std::string scan(unsigned count, unsigned turns) {
  std::string text = kStreamHeader;
  for (unsigned t = 0; t < count; ++t)
    text += line(
        {{"record", "tensor"}, {"id", t}, {"name", "w"}, {"role", "weight"}, {"bytes", 2 << 20}});
  for (unsigned k = 0; k < turns * count; ++k)
    text += line({{"record", "kernel"},
                  {"id", k},
                  {"name", "k"},
                  {"accesses", Json::array({access(k % count, 0, 2 << 20, false)})}});
  return text;
}

} // namespace

TEST_CASE("no policy is faster than the bound on small traces of all kinds", "[app]") {
  // HBM of 8 MiB and an L2 of 2 MiB, so that everything is pushed out at some time.
  Folder folder;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    CAPTURE(seed);
    folder.write("t.jsonl", drawn(seed));
    check_bound(ladder(folder, "t.jsonl", "umf-small-hbm",
                       {"--set", "tiers.hbm.capacity=8MiB", "--set", "gpu.l2.capacity=2MiB",
                        "--set", "tiers.sram.capacity=1MiB"}));
  }
}

TEST_CASE("no policy is faster than the bound on the bundled trace, on any shipped machine",
          "[app]") {
  Folder folder;
  const std::string sample = source_file("traces/samples/h100-qwen1.5-0.5b.umft").string();
  for (const char* machine : {"a100-80g-sxm", "h100-64g", "h100-pcie", "h100-peer", "h100-sxm",
                              "umf-small-hbm", "umf-three-tier", "umf-two-gpus"})
    check_bound(ladder(folder, sample, machine));
}

TEST_CASE("beyond HBM belady fetches no more than lru, and no less than the bound", "[app]") {
  // The study of over-subscription in small: 3 scans of 0.5 to 4 times 8 MiB of HBM, an L2 of
  // 1 MiB in front. lru keeps 15 % free of weights at first, as everybody does.
  Folder folder;
  double last = 0;
  for (const unsigned weights : {2u, 4u, 6u, 8u, 16u}) {
    CAPTURE(weights);
    folder.write("t.jsonl", scan(weights, 3));
    const auto rungs = ladder(folder, "t.jsonl", "umf-small-hbm",
                              {"--set", "tiers.hbm.capacity=8MiB", "--set", "gpu.l2.capacity=1MiB",
                               "--set", "tiers.sram.capacity=64KiB"});
    check_bound(rungs);
    CHECK(rungs.at("bound").fetched <= rungs.at("lru").fetched);
    CHECK(rungs.at("belady").fetched <= rungs.at("lru").fetched);
    CHECK(rungs.at("best-static").fetched == 0);
    CHECK(rungs.at("best-static").ns <= rungs.at("remote-read").ns * 1.001);
    CHECK(rungs.at("bound").ns > last); // more to read takes longer
    last = rungs.at("bound").ns;
  }
}

TEST_CASE("the bound is a row of the ladder and says what it is made of", "[app]") {
  Folder folder;
  folder.write("t.jsonl", scan(8, 3));
  const Ended ended = umfsim({"replay", "t.jsonl", "--scenario", preset("umf-small-hbm"), "--set",
                              "tiers.hbm.capacity=4MiB", "--set", "gpu.l2.capacity=1MiB", "--set",
                              "tiers.sram.capacity=64KiB", "--out", "out", "--against", "bound"},
                             folder.path());
  REQUIRE(ended.status == 0);
  CHECK_THAT(ended.out, Catch::Contains("No policy is faster"));
  CHECK_THAT(ended.out, Catch::Contains("over all links at once"));
  const Json summary = Json::parse(folder.read("out/summary.json"));
  CHECK_FALSE(summary.contains("against"));
  // A turn reads 16 MiB, 5 MiB of which HBM and L2 may hold.
  CHECK(summary.at("bound").at("parts").at(0).at("limit") == "links");
}

} // namespace umf::test
