#include "app/run/replay_run.h"

#include "hw/platform/limits.h"
#include "traces/places.h"
#include "traces/registry.h"

#include <systemc>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

namespace umf::app {

namespace {

/// Passes a stream on and keeps its weights and the device that first uses each, which
/// initial residency needs before time starts.
class WeightCollector : public stream::Source {
public:
  explicit WeightCollector(std::unique_ptr<stream::Source> source) : source_(std::move(source)) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (!source_->next(record)) return false;
    if (const auto* tensor = std::get_if<stream::Tensor>(&record)) {
      if (memory::region_of(tensor->role) == memory::Region::weight) {
        unused_[tensor->id] = weights_.size();
        weights_.push_back({*tensor, kUnused});
      }
    } else if (const auto* kernel = std::get_if<stream::Kernel>(&record)) {
      for (const auto& access : kernel->accesses) {
        const auto weight = unused_.find(access.tensor);
        if (weight == unused_.end()) continue;
        weights_[weight->second].device = kernel->stream.device;
        unused_.erase(weight);
      }
    }
    return true;
  }

  /// Those that some kernel uses, in trace order.
  std::vector<hw::InitialTensor> weights() const {
    std::vector<hw::InitialTensor> used;
    std::copy_if(weights_.begin(), weights_.end(), std::back_inserter(used),
                 [](const hw::InitialTensor& weight) { return weight.device != kUnused; });
    return used;
  }

private:
  std::unique_ptr<stream::Source> source_;
  static constexpr std::int32_t kUnused = INT32_MIN;
  std::vector<hw::InitialTensor> weights_;
  std::map<stream::TensorId, std::size_t> unused_; ///< weights no kernel has used yet
};

/// Faults that only the simulation finds do not know which file they read.
template <class Act>
void naming_the_trace(const std::filesystem::path& trace, Act act) {
  try {
    act();
  } catch (const UserError& error) {
    if (!error.place().text().empty()) throw;
    throw UserError(traces::place_of(trace.string()), error.what());
  }
}

/// SystemC reports the end of a stopped run on stdout, which is the report's.
void hush_systemc() {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
}

} // namespace

ReplayRun run_replay(const ReplayRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  if (!request.ideal.empty()) hw::lift(scenario, request.ideal);
  ReplayRun run;
  hush_systemc();
  WeightCollector first_pass(std::make_unique<StepCollector>(
      open_source(request.trace, request.stop, request.shapes_from), run.steps));
  run.trace = traces::summarise(first_pass);

  run.platform = std::make_unique<hw::Platform>(std::move(scenario));
  const auto source = traces::open_trace(request.trace, request.shapes_from);
  const std::uint64_t all = run.trace.kernels + run.trace.copies.count + run.trace.memsets.count;
  const auto weights = first_pass.weights();
  naming_the_trace(request.trace, [&] {
    hw::Replay replay(*run.platform, *source, weights,
                      [&](hw::OperationRow&& row) { run.rows.push_back(std::move(row)); });
    replay.on_progress([&](std::uint64_t done) {
      if (request.progress) request.progress(done, all, *run.platform);
      return !(request.stop && request.stop());
    });
    replay.run();
    if (replay.interrupted()) throw Interrupted{};
    run.totals = replay.totals();
  });

  run.makespan = hw::sim_now();
  run.ledger = hw::balance(*run.platform, run.totals, run.makespan);
  std::sort(run.rows.begin(), run.rows.end(),
            [](const auto& a, const auto& b) { return a.result.id < b.result.id; });
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

} // namespace umf::app
