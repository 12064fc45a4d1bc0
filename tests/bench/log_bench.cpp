#include "model/base/json.h"
#include "model/base/random.h"
#include "model/policy/registry.h"
#include "tests/scheduler/carry_out.h"
#include "tests/scheduler/logged.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

/// The command log: events a second that are read, and read and decided again. 40 GiB of HBM before
/// a pool, 60 GiB of weights of 32 MiB, pages of 64 KiB; a page an access, as drawn at random from
/// a quarter of the tensors or in turn, and what serves it at once.

namespace {

using namespace umf;
using namespace umf::scheduler;
using namespace umf::test;

constexpr Bytes kPage = 64_KiB;
constexpr stream::TensorId kTensors = 1920;
constexpr std::uint64_t kTensorPages = 512, kAccesses = 1'000'000;

std::string recorded(const std::string& name, bool random_pages) {
  const std::string policy = R"({"name":")" + name + R"("})";
  memory::FrameAllocator hbm{(40_GiB).count / kPage.count}, pool{(256_GiB).count / kPage.count};
  LogHeader header;
  header.page = kPage;
  header.tiers = {{"hbm", policy::TierClass::hbm, hbm.frames()},
                  {"pool", policy::TierClass::pool, pool.frames()}};
  header.gpus = {{policy, {{true, {}}, {true, {}}}}};
  std::string bytes;
  LogWriter writer(header, into(bytes));
  KeyContext context;
  Brain brain(
      {kPage, {{"hbm", policy::TierClass::hbm, &hbm}, {"pool", policy::TierClass::pool, &pool}}},
      policy::kind_named(name).make(parse_json(policy, "p.json"), context));
  context.throw_if_faulty();
  brain.tap(&writer.gpu(0));
  std::vector<std::uint64_t> bases;
  for (stream::TensorId t = 1; t <= kTensors; ++t) {
    stream::Tensor tensor;
    tensor.id = t;
    tensor.role = stream::Role::weight;
    tensor.bytes = {kTensorPages * kPage.count};
    brain.declare(tensor);
    brain.preload(t);
    bases.push_back(brain.space().at(t).base);
  }
  RandomStream random(1, "log bench");
  std::vector<memory::PageRun> runs;
  Femtoseconds now{};
  for (std::uint64_t i = 0; i < kAccesses; ++i) {
    now += 80_ns; // 64 KiB at 0.8 TB/s
    const std::uint64_t page = random_pages ? random.next_below(kTensors / 4 * kTensorPages)
                                            : i % (kTensors * kTensorPages);
    runs.clear();
    brain.touch(bases[page / kTensorPages] + page % kTensorPages * kPage.count, kPage, false, now,
                runs);
    carry_out(brain, now);
  }
  writer.finish();
  return bytes;
}

void count(benchmark::State& state, std::uint64_t events, const std::string& bytes) {
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["bytes_an_access"] =
      static_cast<double>(bytes.size()) / static_cast<double>(kAccesses);
}

void read_log(benchmark::State& state, const std::string& policy, bool random_pages) {
  const std::string bytes = recorded(policy, random_pages);
  std::uint64_t events = 0;
  for (auto _ : state) {
    LogReader reader = reader_of(bytes);
    for (LogEvent event; reader.next(event);)
      ++events;
  }
  count(state, events, bytes);
}

void replay(benchmark::State& state, const std::string& policy, bool random_pages) {
  const std::string bytes = recorded(policy, random_pages);
  std::uint64_t events = 0;
  for (auto _ : state) {
    LogReader reader = reader_of(bytes);
    const LogResult result = replay_log(reader);
    if (!result.difference.empty()) state.SkipWithError(result.difference.c_str());
    events += result.events;
  }
  count(state, events, bytes);
}

} // namespace

BENCHMARK_CAPTURE(read_log, static_random, "static", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, static_random, "static", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, static_scan, "static", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, umf_random, "umf", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replay, umf_scan, "umf", false)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
