#include "model/base/json.h"
#include "model/base/random.h"
#include "model/policy/registry.h"
#include "tests/scheduler/carry_out.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

/// The brain's decisions: accesses resolved a second, with moves taken and carried out at once.
/// 40 GiB of HBM before a pool, 60 GiB of weights of 32 MiB, pages of 64 KiB.

namespace {

using namespace umf;

constexpr Bytes kPage = 64_KiB;
constexpr stream::TensorId kTensors = 1920;
constexpr std::uint64_t kTensorPages = 512;

struct Machine {
  memory::FrameAllocator hbm{(40_GiB).count / kPage.count}, pool{(256_GiB).count / kPage.count};
  std::unique_ptr<scheduler::Brain> brain;
  std::vector<std::uint64_t> bases;
  std::vector<memory::PageRun> runs;

  explicit Machine(const std::string& policy) {
    KeyContext context;
    auto made = policy::kind_named(policy).make(
        parse_json(R"({"name": ")" + policy + R"("})", "p.json"), context);
    context.throw_if_faulty();
    brain = std::make_unique<scheduler::Brain>(
        policy::Ground{
            kPage,
            {{"hbm", policy::TierClass::hbm, &hbm}, {"pool", policy::TierClass::pool, &pool}}},
        std::move(made));
    for (stream::TensorId t = 1; t <= kTensors; ++t) {
      stream::Tensor tensor;
      tensor.id = t;
      tensor.role = stream::Role::weight;
      tensor.bytes = {kTensorPages * kPage.count};
      brain->declare(tensor);
      brain->preload(t);
      bases.push_back(brain->space().at(t).base);
    }
  }
  void touch(std::uint64_t tensor, std::uint64_t page, std::uint64_t pages, Femtoseconds now) {
    runs.clear();
    brain->touch(bases[tensor] + page * kPage.count, {pages * kPage.count}, false, now, runs);
  }
};

/// One page at a time, drawn at random from a quarter of the tensors, as routed experts are.
void random_pages(benchmark::State& state, const std::string& policy) {
  Machine machine(policy);
  RandomStream random(1, "brain bench");
  Femtoseconds now{};
  for (auto _ : state) {
    now += 80_ns; // 64 KiB at 0.8 TB/s
    machine.touch(random.next_below(kTensors / 4), random.next_below(kTensorPages), 1, now);
    test::carry_out(*machine.brain, now);
  }
  state.SetItemsProcessed(state.iterations());
}

/// All tensors in turn, 2 MiB an access: pages decided on.
void scan(benchmark::State& state, const std::string& policy) {
  constexpr std::uint64_t kRun = 32;
  Machine machine(policy);
  Femtoseconds now{};
  std::uint64_t at = 0;
  for (auto _ : state) {
    now += 2500_ns;
    machine.touch(at / kTensorPages % kTensors, at % kTensorPages, kRun, now);
    test::carry_out(*machine.brain, now);
    at += kRun;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRun));
}

} // namespace

BENCHMARK_CAPTURE(random_pages, static, "static");
BENCHMARK_CAPTURE(random_pages, umf, "umf");
BENCHMARK_CAPTURE(random_pages, lru, "lru");
BENCHMARK_CAPTURE(scan, static, "static");
BENCHMARK_CAPTURE(scan, umf, "umf");
BENCHMARK_CAPTURE(scan, lru, "lru");

BENCHMARK_MAIN();
