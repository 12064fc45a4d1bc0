#include "app/run/replay_run.h"

#include "traces/registry.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace umf::app {

namespace {

/// Passes a stream on and keeps its weights and the device that first uses each, which
/// initial residency needs before time starts.
class WeightCollector : public stream::Source {
public:
  WeightCollector(std::unique_ptr<stream::Source> source, const ReplayRequest& request)
      : source_(std::move(source)), request_(request) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if ((++records_ & 4095) == 0 && request_.progress && !request_.progress(0, 0))
      throw Interrupted{};
    if (!source_->next(record)) return false;
    if (const auto* tensor = std::get_if<stream::Tensor>(&record)) {
      if (memory::region_of(tensor->role) == memory::Region::weight) {
        unused_[tensor->id] = weights.size();
        weights.push_back({*tensor, 0});
      }
    } else if (const auto* kernel = std::get_if<stream::Kernel>(&record)) {
      for (const auto& access : kernel->accesses) {
        const auto weight = unused_.find(access.tensor);
        if (weight == unused_.end()) continue;
        weights[weight->second].device = kernel->stream.device;
        unused_.erase(weight);
      }
    }
    return true;
  }

  std::vector<hw::InitialTensor> weights;

private:
  std::unique_ptr<stream::Source> source_;
  const ReplayRequest& request_;
  std::uint64_t records_ = 0;
  std::map<stream::TensorId, std::size_t> unused_; ///< weights no kernel has used yet
};

} // namespace

ReplayRun run_replay(const ReplayRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  ReplayRun run;
  WeightCollector first_pass(traces::open_trace(request.trace), request);
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
