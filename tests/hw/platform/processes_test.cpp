#include "tests/hw/support/machine.h"

#include "model/base/random.h"

#include <catch2/catch.hpp>

#include <set>

/// S10: tenants that are processes with the same weights, spawned or forked; clearing caches.
namespace umf::test {

using F = Figures;
using stream::Role;

namespace {

const char* const kFork = R"({"replay": {"processes": "fork"}})";
constexpr std::uint64_t kPage = 64 << 10;
constexpr Bytes kFour{4 * kPage};

/// A weight of `bytes`, read once.
std::vector<stream::Record> worker(Bytes bytes) {
  return {tensor(1, bytes, Role::weight), kernel(1, {reads(1, bytes)})};
}

std::uint64_t hbm_used(const Outcome& run) {
  return run.platform->tiers()[0].frames->used() * kPage;
}

hw::TenantSetup setup(std::vector<stream::Record> records, const std::string& model) {
  hw::TenantSetup setup = tenant_of(std::move(records));
  setup.model = model;
  return setup;
}

} // namespace

TEST_CASE("spawned processes load equal weights each, and the bytes are reported") {
  const Outcome run = replay_tenants(machine(), {worker(8_MiB), worker(8_MiB), worker(8_MiB)}, "m");
  CHECK(hbm_used(run) == 3 * (8_MiB).count);
  CHECK(run.processes.tensors == 1);
  CHECK(run.processes.once == 8_MiB);
  CHECK(run.processes.again == 16_MiB);
  // Of three the one nearest to the GPU is no duplicate.
  CHECK(run.processes.at_begin.bytes() == (16_MiB).count);
  CHECK(run.processes.at_end.by_tier == std::vector<std::uint64_t>{(16_MiB).count});
  CHECK(run.unbalanced() == "");
}

TEST_CASE("forked processes of a GPU have equal weights once") {
  const Outcome run = replay_tenants(machine(kFork), {worker(8_MiB), worker(8_MiB)}, "m");
  CHECK(hbm_used(run) == (8_MiB).count);
  CHECK(run.processes.again == 8_MiB);
  CHECK(run.processes.at_peak.bytes() == 0);
  CHECK(run.processes.copied_pages == 0);
  // What one has read the other finds in the L2.
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (8_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("weights of two models are not the same, nor are those without a name or an origin") {
  std::vector<hw::TenantSetup> setups = {setup(worker(1_MiB), "a"), setup(worker(1_MiB), "b"),
                                         setup(worker(1_MiB), ""), setup(worker(1_MiB), "")};
  for (int n = 0; n < 2; ++n) {
    setups.push_back(setup(worker(1_MiB), "c"));
    setups.back().initial.front().tensor.name.clear();
  }
  const Outcome run = replay_setups(machine(), setups);
  CHECK(run.processes.tensors == 0);
  CHECK(run.processes.at_peak.bytes() == 0);
  CHECK(hbm_used(run) == 6 * (1_MiB).count);
}

TEST_CASE("type and shape tell weights of one name apart, equal ones go by order") {
  const auto with = [](auto change) {
    stream::Tensor t = tensor(1, 1_MiB, Role::weight);
    change(t);
    stream::Tensor twin = t;
    twin.id = 2;
    return std::vector<stream::Record>{t, twin, kernel(1, {reads(1, 1_MiB), reads(2, 1_MiB)})};
  };
  const auto same = [](stream::Tensor&) {};
  const Outcome run =
      replay_tenants(machine(kFork),
                     {with(same), with(same), with([](auto& t) { t.dtype = stream::DType::f8; }),
                      with([](auto& t) {
                        t.shape = {2, 3};
                      })},
                     "m");
  // The two twins of the first two tenants.
  CHECK(run.processes.tensors == 2);
  CHECK(run.processes.again == 2_MiB);
  CHECK(hbm_used(run) == (2 + 2 + 2) * (1_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("what a spawned process writes is no duplicate any more") {
  std::vector<stream::Record> writer = worker(kFour);
  writer.push_back(kernel(2, {writes(1, {kPage}, kPage + 1)})); // reaches into two pages
  const Outcome run = replay_tenants(machine(), {worker(kFour), writer}, "m");
  CHECK(run.processes.at_begin.bytes() == 4 * kPage);
  CHECK(run.processes.at_peak.bytes() == 4 * kPage);
  CHECK(run.processes.at_end.bytes() == 2 * kPage);
  CHECK(run.processes.copied_pages == 0);
}

TEST_CASE("a forked process that writes copies those pages first, and pays for it") {
  std::vector<stream::Record> writer = worker(kFour);
  writer.push_back(kernel(2, {writes(1, {kPage}, kPage + 1)})); // reaches into two pages
  writer.push_back(kernel(3, {reads(1, kFour)}));
  const Outcome run = replay_tenants(machine(kFork), {worker(kFour), writer}, "m");
  CHECK(run.processes.copied_pages == 2);
  CHECK(run.processes.copied == Bytes{2 * kPage});
  CHECK(run.processes.fault_batches == 1);
  CHECK(hbm_used(run) == (4 + 2) * kPage);
  REQUIRE(run.rows.size() == 5);
  // By number of issue: the reads of both, the write and the read after it, the copy last.
  const auto& copy = run.rows[4];
  const auto& write = run.rows[2];
  CHECK(copy.kind == hw::Operation::Kind::copy);
  CHECK(copy.copied_for == write.result.id);
  CHECK(copy.result.start == run.rows[1].result.end); // no launch: the handler starts it
  CHECK(write.result.ready == copy.result.end);
  const Femtoseconds fault = run.platform->scenario().scheduler.fault_latency;
  CHECK(copy.result.causes.of(hw::Cause::migration) == fault + F::setup);
  CHECK(copy.result.dram == Bytes{4 * kPage}); // both sides
  CHECK(run.unbalanced() == "");
}

TEST_CASE("the process that loaded the weights copies as well, the last one writes in place") {
  std::vector<std::vector<stream::Record>> traces = {worker(kFour), worker(kFour), worker(kFour)};
  for (auto& trace : traces)
    trace.push_back(kernel(2, {writes(1, {kPage})}));
  const Outcome run = replay_tenants(machine(kFork), traces, "m");
  // Three versions of one page: two copies beside the original.
  CHECK(run.processes.copied_pages == 2);
  CHECK(hbm_used(run) == (4 + 2) * kPage);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a second write to a copied page costs nothing more") {
  std::vector<stream::Record> writer = worker(kFour);
  writer.push_back(kernel(2, {writes(1, {100})}));
  writer.push_back(kernel(3, {writes(1, {kPage})}));
  const Outcome run = replay_tenants(machine(kFork), {worker(kFour), writer}, "m");
  CHECK(run.processes.copied_pages == 1);
  CHECK(run.processes.fault_batches == 1);
}

TEST_CASE("KV cache and activations are private in forked processes") {
  const std::vector<stream::Record> records = {tensor(1, 1_MiB, Role::kv_key), tensor(2, 1_MiB),
                                               kernel(1, {reads(1, 1_MiB)}),
                                               kernel(2, {writes(2, 1_MiB)})};
  const Outcome run = replay_tenants(machine(kFork), {records, records}, "m");
  CHECK(run.processes.tensors == 0);
  CHECK(hbm_used(run) == 4 * (1_MiB).count);
}

TEST_CASE("forked processes on GPUs of their own share nothing") {
  const Outcome run = replay_tenants(
      machine(R"({"gpus": 2, "replay": {"processes": "fork", "tenant_gpus": [0, 1]}})"),
      {worker(1_MiB), worker(1_MiB)}, "m");
  CHECK(run.processes.tensors == 0);
  CHECK(hbm_used(run) == (1_MiB).count);
  CHECK(run.platform->tiers()[1].frames->used() * kPage == (1_MiB).count);
}

namespace {

/// Weights read, written and freed at random; some are kept.
struct RandomWorker {
  std::vector<stream::Record> records;
  std::set<stream::TensorId> freed;
};

RandomWorker random_worker(std::uint64_t seed, std::uint32_t tenant, bool free_all) {
  constexpr std::uint32_t kTensors = 12;
  const RandomStream draw(seed, "tenant" + std::to_string(tenant));
  std::uint64_t at = 0;
  const auto below = [&](std::uint64_t n) {
    return static_cast<std::uint64_t>(draw.unit_at(at++) * static_cast<double>(n));
  };
  const auto bytes_of = [](std::uint32_t id) { return kPage * (id % 5 + 1) - id * 7; };
  RandomWorker worker;
  for (std::uint32_t id = 1; id <= kTensors; ++id)
    worker.records.emplace_back(tensor(id, {bytes_of(id)}, Role::weight));
  for (std::uint64_t k = 1; k <= 150; ++k) {
    const auto id = static_cast<std::uint32_t>(below(kTensors) + 1);
    if (worker.freed.count(id) > 0) continue;
    const std::uint64_t offset = below(bytes_of(id));
    const Bytes length{below(bytes_of(id) - offset) + 1};
    const auto stream = static_cast<std::int64_t>(below(2));
    const auto access = below(3) == 0 ? writes(id, length, offset) : reads(id, length, offset);
    worker.records.emplace_back(kernel(k, {access}, 0, {0, stream}));
    if (below(25) == 0) {
      worker.records.emplace_back(stream::Free{id});
      worker.freed.insert(id);
    }
  }
  if (free_all)
    for (std::uint32_t id = kTensors; id >= 1; --id)
      if (worker.freed.insert(id).second) worker.records.emplace_back(stream::Free{id});
  return worker;
}

/// `patch`: over the machine.
void check_random(std::uint64_t seed, bool free_all, const std::string& patch = "{}") {
  CAPTURE(seed);
  std::vector<std::vector<stream::Record>> traces;
  for (std::uint32_t t = 0; t < 4; ++t)
    traces.push_back(random_worker(seed, t, free_all).records);
  const Outcome run = replay_tenants(machine(both(kFork, patch)), std::move(traces), "m");
  CHECK(run.unbalanced() == "");
  CHECK(run.processes.copied_pages > 0);
  std::uint64_t pages = 0;
  for (const std::uint32_t id : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    pages += id % 5 + 1;
  CHECK(run.processes.copied_pages <= 3 * pages); // of four the last writes in place
  if (free_all) {
    for (const auto& tier : run.platform->tiers())
      CHECK(tier.frames->used() == 0);
    CHECK(run.platform->brain(0).space().live_tensors() == 0);
  }
}

} // namespace

TEST_CASE("forked processes that read, write and free at random lose no page") {
  check_random(1, true);
}

TEST_CASE("forked processes whose pages move lose none of them") {
  // 36 pages of weights, 16 of HBM; null takes away what the other policy has.
  const std::string small =
      R"({"tiers": {"hbm": {"capacity": "1MiB"}}, "gpu": {"l2": {"capacity": "128KiB"}},
                               "policy": {"name": "lru", "default_hbm_share": null}})";
  check_random(3, true, both(pool_patch(), small));
}

TEST_CASE("forked processes of which some keep weights balance, too") {
  check_random(2, false);
}

TEST_CASE("between repetitions a cache is cleared at its cost, in which the GPU idles") {
  const std::string clear =
      R"({"replay": {"repeat": 3, "clear_cache": "repetitions", "clear_cache_cost": "2ms"}})";
  const Outcome run = replay(machine(clear), worker(1_MiB));
  const auto& repeats = run.tenants.at(0).repeats;
  REQUIRE(repeats.size() == 3);
  // Twice between three.
  CHECK(run.processes.clear_caches == 2);
  CHECK(run.processes.clear_time == 4'000'000_ns);
  CHECK(run.makespan == repeats[0] + repeats[1] + repeats[2] + 4'000'000_ns);
  CHECK(run.platform->gpu(0).causes().of(hw::Cause::idle) == 4'000'000_ns);
  // 16 pages are looked up anew: the TLB is empty. The L2 is not: only the first turn looks up.
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (1_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("buffers of copies return when the cache is cleared") {
  const auto run_with = [](const std::string& clear) {
    return replay(machine(both(host_patch(), clear)),
                  {copy(1, stream::CopyKind::host_to_device, 1_MiB)});
  };
  const Outcome run = run_with(R"({"replay": {"repeat": 2, "clear_cache": "repetitions"}})");
  const std::uint64_t pages = (1_MiB).count / kPage;
  // Each turn touches its buffer for the first time.
  CHECK(run.platform->brain(0).counters().first_touches == 2 * pages);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("another tenant goes on while one clears its cache") {
  const std::string clear =
      R"({"replay": {"repeat": 2, "clear_cache": "repetitions", "clear_cache_cost": "1ms"}})";
  const Outcome run = replay_tenants(machine(clear), {{kernel(1, {}, 0)}, {kernel(1, {}, 1e12)}});
  // 1e12 FLOP at 100 TFLOP/s are 10 ms; the other's kernels are launches alone.
  CHECK(run[1].start == F::start - F::overhead + F::start + 1'000'000_ns);
  CHECK(run.processes.clear_caches == 2);
}

} // namespace umf::test
