#include "app/run/replay_run.h"

#include "traces/registry.h"

#include <algorithm>
#include <chrono>

namespace umf::app {

namespace {

/// Passes a stream on and keeps its weights, which initial residency needs before time starts.
class WeightCollector : public stream::Source {
public:
  explicit WeightCollector(std::unique_ptr<stream::Source> source) : source_(std::move(source)) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (!source_->next(record)) return false;
    const auto* tensor = std::get_if<stream::Tensor>(&record);
    if (tensor != nullptr && memory::region_of(tensor->role) == memory::Region::weight)
      weights.push_back(*tensor);
    return true;
  }

  std::vector<stream::Tensor> weights;

private:
  std::unique_ptr<stream::Source> source_;
};

} // namespace

ReplayRun run_replay(const ReplayRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  ReplayRun run;
  WeightCollector first_pass(traces::open_trace(request.trace));
  run.trace = traces::summarise(first_pass);

  run.platform = std::make_unique<hw::Platform>(std::move(scenario));
  const auto source = traces::open_trace(request.trace);
  hw::Replay replay(*run.platform, *source, first_pass.weights,
                    [&](hw::OperationRow&& row) { run.rows.push_back(std::move(row)); });
  const std::uint64_t all = run.trace.kernels + run.trace.copies.count + run.trace.memsets.count;
  if (request.progress)
    replay.on_progress([&](std::uint64_t done) { return request.progress(done, all); });
  replay.run();
  if (replay.interrupted()) throw Interrupted{};

  run.totals = replay.totals();
  run.makespan = hw::sim_now();
  run.ledger = hw::balance(*run.platform, run.totals, run.makespan);
  std::sort(run.rows.begin(), run.rows.end(),
            [](const auto& a, const auto& b) { return a.result.id < b.result.id; });
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

} // namespace umf::app
