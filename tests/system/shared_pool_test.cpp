#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Json = nlohmann::json;

/// Tenants and GPUs that share a pool get the fair share of what they meet in, within 2 %.
/// Each trace is one kernel that streams a tensor from the pool; the machine is the shipped
/// umf-two-gpus with everything placed in its pool.
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{512} << 20;

/// Its grid is not recorded, which fills the GPU: enough in flight to fill any link.
std::string one_read(std::uint64_t bytes) {
  return kStreamHeader + tensor_line(1, bytes) +
         fmt::format(R"({{"record":"kernel","id":1,"name":"k","rule":"recorded","accesses":)"
                     R"([{{"tensor":1,"rule":"recorded","length_bytes":{}}}]}})"
                     "\n",
                     bytes);
}

/// Ends of the tenants' only kernels, in seconds since the begin of the run.
std::vector<double> ends_of(std::vector<std::uint64_t> bytes, std::vector<std::string> sets) {
  Folder folder;
  std::vector<std::string> arguments = {"replay"};
  for (std::size_t t = 0; t < bytes.size(); ++t) {
    const std::string name = fmt::format("t{}.jsonl", t);
    folder.write(name, one_read(bytes[t]));
    arguments.push_back(name);
  }
  arguments.insert(arguments.end(), {"--scenario", preset("umf-two-gpus"), "--out", "out", "--set",
                                     R"(policy={"name":"static","default_hbm_share":0.0})"});
  for (const auto& set : sets)
    arguments.insert(arguments.end(), {"--set", set});
  const Ended ended = umfsim(arguments, folder.path());
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json summary = Json::parse(folder.read("out/summary.json"));
  REQUIRE(summary.at("ledger").at("ok") == true);
  std::vector<double> ends;
  for (const auto& tenant : summary.at("tenants")) {
    CHECK(tenant.at("dram_bytes") == bytes[ends.size()]);
    ends.push_back(tenant.at("simulated_ns").get<double>() * 1e-9);
  }
  return ends;
}

/// Payload of reads on one Gen5 x16 link of 68 B flits: 32 GT/s on 16 lanes in 128b/130b; a
/// line of 64 B takes four and a half 16 B slots of 68 B flits that hold four.
constexpr double kLink = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);
/// Launch, overhead and latency are some 3 µs of 10 ms: far inside the 2 %.
constexpr double kAlone = static_cast<double>(kBytes) / kLink;

const std::string kTwoGpus = "replay.tenant_gpus=[0,1]";

} // namespace

TEST_CASE("a tenant alone has the pool's link to itself") {
  CHECK(ends_of({kBytes}, {})[0] == Approx(kAlone).epsilon(0.02));
}

TEST_CASE("two tenants on one GPU share its way to the pool by halves") {
  for (const double end : ends_of({kBytes, kBytes}, {}))
    CHECK(end == Approx(2 * kAlone).epsilon(0.02));
}

TEST_CASE("two GPUs share the one link behind the switch by halves") {
  for (const double end : ends_of({kBytes, kBytes}, {kTwoGpus}))
    CHECK(end == Approx(2 * kAlone).epsilon(0.02));
}

TEST_CASE("two GPUs share the pool's DDR5 by halves where links are wide") {
  // Two channels of DDR5-6400, 102.4 GB/s at most, behind four links: each GPU could take
  // 52.7 GB/s and together they are held to what the channels give.
  const std::vector<std::string> wide = {"links.sw0-cxl.count=4", "links.gpu0-sw0.count=2",
                                         "links.gpu1-sw0.count=2", "tiers.cxl.channels=1"};
  auto shared = wide;
  shared.push_back(kTwoGpus);
  const double alone = ends_of({kBytes}, wide)[0];
  CHECK(alone > static_cast<double>(kBytes) / 51.2e9); // one channel of DDR5-6400 at its best
  // Two streams keep more banks busy than one and close each other's rows: within a few percent of
  // one after the other.
  const std::vector<double> ends = ends_of({kBytes, kBytes}, shared);
  CHECK(ends[0] == Approx(ends[1]).epsilon(0.001));
  CHECK(ends[0] < 2 * alone * 1.02);
  CHECK(ends[0] > 2 * alone * 0.96);
}

TEST_CASE("a link that trains down in mid-run slows at that instant, and comes back") {
  // Gen5 until 4 ms, down until 5, Gen4 (half the rate) until 8, down until 9, then Gen5 again.
  const double moved = kLink * (4e-3 + 0.5 * 3e-3);
  const double end = 9e-3 + (static_cast<double>(kBytes) - moved) / kLink;
  CHECK(ends_of({kBytes}, {R"(links.sw0-cxl.training.changes=["4ms gen4 x16","8ms gen5 x16"])",
                           "links.sw0-cxl.training.recovery=1ms"})[0] ==
        Approx(end).epsilon(0.002));
  // Half the lanes from the start, after a recovery of no time: twice as long.
  CHECK(ends_of({kBytes}, {R"(links.sw0-cxl.training.changes=["0ns gen5 x8"])",
                           "links.sw0-cxl.training.recovery=0ns"})[0] ==
        Approx(2 * kAlone).epsilon(0.002));
}

TEST_CASE("who needs less leaves the rest to the other") {
  // A quarter of the bytes: done when both have moved a quarter, the other when all has gone.
  const auto ends = ends_of({kBytes / 4, kBytes}, {kTwoGpus});
  CHECK(ends[0] == Approx(0.5 * kAlone).epsilon(0.02));
  CHECK(ends[1] == Approx(1.25 * kAlone).epsilon(0.02));
}

TEST_CASE("weights of 1 and 3 share by quarters, on one GPU and on two") {
  const std::string gpus = GENERATE(std::string("[0,0]"), std::string("[0,1]"));
  const auto ends =
      ends_of({kBytes, kBytes}, {"replay.tenant_weights=[1,3]", "replay.tenant_gpus=" + gpus});
  // The heavy one moves at 3/4 and ends after 4/3; by then the light one has a third done.
  CHECK(ends[1] == Approx(4.0 / 3 * kAlone).epsilon(0.02));
  CHECK(ends[0] == Approx(2 * kAlone).epsilon(0.02));
}
