#include "app/serve/serve_run.h"

#include "app/run/trace_source.h"
#include "hw/platform/peaks.h"
#include "hw/platform/replay.h"
#include "hw/platform/scenario.h"
#include "hw/platform/tensor_numbers.h"
#include "model/base/error.h"
#include "model/policy/registry.h"
#include "traces/places.h"
#include "traces/registry.h"
#include "traces/requests/poisson.h"
#include "traces/requests/tenants.h"

#include <fmt/format.h>
#include <systemc>

#include <algorithm>
#include <chrono>
#include <utility>

namespace umf::app {

namespace {

using traces::generate::StepOptions;

std::unique_ptr<stream::Source> open_requests(const ServeRequest& request,
                                              const hw::Scenario& scenario) {
  if (request.requests == "poisson")
    return std::make_unique<traces::requests::PoissonSource>(scenario.serving.poisson,
                                                             scenario.general.seed);
  refuse_pipe(request.requests);
  return traces::open_trace(request.requests);
}

/// The tenants of the key, as one source.
std::unique_ptr<traces::requests::TenantsSource>
open_tenants(const hw::Scenario& scenario, const std::vector<serving::Tenant>& tenants) {
  const auto classes = scenario.serving.service_classes();
  std::vector<traces::requests::TenantsSource::Part> parts;
  for (const serving::Tenant& tenant : tenants) {
    if (std::none_of(classes.begin(), classes.end(), [&](const serving::ServiceClass& one) {
          return one.name == tenant.service_class;
        }))
      throw UserError(
          scenario.keys.place_of("/serving/tenants"),
          fmt::format("tenant \"{}\" is of class \"{}\", which serving.classes does not "
                      "have, expected one of those",
                      tenant.name, tenant.service_class));
    std::unique_ptr<stream::Source> requests;
    if (tenant.trace.empty()) {
      requests = std::make_unique<traces::requests::PoissonSource>(
          tenant, scenario.serving.tenant_time, scenario.general.seed);
    } else {
      refuse_pipe(tenant.trace);
      requests = traces::open_trace(tenant.trace);
    }
    parts.push_back({std::move(requests), tenant.service_class});
  }
  return std::make_unique<traces::requests::TenantsSource>(std::move(parts));
}

StepOptions options_of(const ServeRequest& request, const hw::Scenario& scenario) {
  StepOptions options;
  options.model = shapes::find_model(request.model);
  options.weights = shapes::weight_formats(options.model, request.weight_format);
  if (!request.kv_format.empty())
    options.kv = shapes::parse_format(request.kv_format, "--kv-dtype");
  options.tp = request.tp;
  options.launch = stream::Launch::graph;
  options.sms = scenario.gpu.sms;
  options.seed = scenario.general.seed;
  return options;
}

/// Room for blocks in what serving may use of HBM and, where the policy places pages there, of the
/// pool.
KvRoom room_for(const ServingSource& source, const hw::Platform& platform) {
  const hw::Scenario& scenario = platform.scenario();
  const auto& ground = platform.brain(0).ground();
  const auto usable = [&](policy::TierClass kind, double share) {
    return Bytes{policy::part_of(ground.all_pages(kind), share) * ground.page.count};
  };
  KvRoom room;
  room.block = source.block_bytes();
  room.weights = source.weight_bytes();
  room.workspace = source.workspace_bytes();
  room.hbm = usable(policy::TierClass::hbm, scenario.serving.hbm_share);
  if (policy::kind_named(scenario.policy).beyond_hbm)
    room.pool = usable(policy::TierClass::pool, scenario.serving.pool_share);
  const Bytes all = room.hbm + room.pool, fixed = room.weights + room.workspace;
  if (all < fixed + room.block)
    throw UserError(fmt::format(
        "{}: weights of {} B, activations of {} B and one block of KV cache of {} B do not fit in "
        "{} B of HBM and {} B of pool; expected a smaller model or number format, more GPUs "
        "(--tp) or a larger machine",
        source.header().source, room.weights.count, room.workspace.count, room.block.count,
        room.hbm.count, room.pool.count));
  room.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      (all.count - fixed.count) / room.block.count, std::uint64_t{1} << 31));
  return room;
}

/// Numbers of the stream's tensors on the machine follow from their order alone.
std::function<bool(stream::TensorId, std::uint64_t)> places_of(const ServingSource& source,
                                                               const hw::Platform& platform) {
  auto numbers = std::make_shared<hw::TensorNumbers>(0, 1);
  for (const hw::InitialTensor& one : source.initial())
    numbers->declare(one.tensor);
  return [numbers, &platform](stream::TensorId tensor, std::uint64_t offset) {
    const scheduler::Brain& brain = platform.brain(0);
    const auto& entry = brain.space().at(numbers->find(tensor).value());
    std::vector<memory::PageRun> runs;
    brain.look(entry.base + offset, Bytes{1}, runs);
    const auto kind = brain.ground().tiers[runs.front().tier].kind;
    return kind != policy::TierClass::hbm && kind != policy::TierClass::sram;
  };
}

ServingMachine machine_of(const ServingSource& source, const hw::Platform& platform) {
  const hw::Scenario& scenario = platform.scenario();
  const hw::GpuConfig& gpu = scenario.gpu;
  const hw::Peaks peaks(scenario);
  ServingMachine machine;
  machine.flops = [compute = gpu.compute](stream::DType dtype) {
    return hw::peak_of(compute, dtype).value * compute.efficiency;
  };
  machine.near = peaks.near(0).read;
  machine.hbm = std::max(peaks.hbm(0).read, 1.0);
  machine.far = std::max(peaks.far(0).read, 1.0);
  machine.access =
      (gpu.l2.far_latency + gpu.l2.miss_latency).seconds() / gpu.compute.ranges_at_once;
  machine.is_far = places_of(source, platform);
  machine.moves = policy::kind_named(scenario.policy).moves;
  return machine;
}

void add_check(std::vector<hw::LedgerCheck>& ledger, const char* name, std::uint64_t left,
               std::uint64_t right) {
  ledger.push_back({name, left, right});
}

/// What a batcher must have kept, besides the machine's own books.
void balance_requests(const ServingSource& source, ServeRun& run) {
  const serving::BatchCounters& c = run.counters;
  std::uint64_t decoded = 0, prompts = 0, cached = 0;
  for (const serving::Outcome& outcome : run.outcomes) {
    decoded += outcome.output_tokens - 1;
    prompts += outcome.prompt_tokens;
    cached += outcome.cached_tokens;
  }
  add_check(run.machine.ledger, "requests arrived = done + too long", c.arrived,
            c.done + c.too_long);
  add_check(run.machine.ledger, "tokens computed = prompts - cached + decoded + recomputed",
            c.computed_tokens + cached, prompts + decoded + c.recomputed_tokens);
  add_check(run.machine.ledger, "blocks held at the end = 0", source.batcher().blocks().held(), 0);
  source.batcher().blocks().prove();
}

/// One operation is read at a time: the next iteration is planned when the last one is done.
hw::Scenario scenario_of(const ServeRequest& request) {
  hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  scenario.replay.mode = hw::ReplayMode::closed;
  scenario.replay.read_ahead = 1;
  scenario.replay.repeat = 1;
  return scenario;
}

/// Hands the one source, which is read while it is made, to the replay.
class Borrowed : public stream::Source {
public:
  explicit Borrowed(stream::Source& source) : source_(source) {}
  const stream::Header& header() const override { return source_.header(); }
  bool next(stream::Record& record) override { return source_.next(record); }

private:
  stream::Source& source_;
};

void serve(ServingSource& source, ServeRun& run) {
  hw::TenantSetup setup;
  setup.place = traces::place_of(run.source);
  setup.open = [&] { return std::make_unique<Borrowed>(source); };
  setup.initial = source.initial();
  setup.touched = source.cache_order();
  hw::Replay replay(*run.machine.platform, {std::move(setup)},
                    [&](hw::OperationRow&& row) { source.done(row); });
  source.find_places();
  replay.run();
  if (source.stopped()) throw Interrupted{};
  run.machine.totals = replay.totals();
  TenantRun& tenant = run.machine.tenants.emplace_back();
  tenant.name = tenant.trace = run.source;
  tenant.result = replay.results().front();
}

} // namespace

ServeRun run_serving(const ServeRequest& request) {
  const auto started = std::chrono::steady_clock::now();
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  hw::Scenario scenario = scenario_of(request);
  ServeRun run;
  run.config = scenario.serving;
  run.tp = request.tp;
  StepOptions options = options_of(request, scenario);
  run.model = options.model.name;
  run.weight_format = options.weights.matrices.name;
  run.kv_format = options.kv.name;
  const std::uint64_t seed = scenario.general.seed;
  ServingSource::Parts parts{
      run.config, nullptr, std::move(options), request.most_requests, request.stop, {}, {}};
  if (request.requests == "tenants") {
    run.tenants = run.config.parsed_tenants();
    auto tenants = open_tenants(scenario, run.tenants);
    parts.tenant_of = [all = tenants.get()](std::uint64_t id) { return all->tenant_of(id); };
    for (const serving::Tenant& tenant : run.tenants)
      parts.weights.push_back(tenant.weight);
    parts.requests = std::move(tenants);
  } else {
    parts.requests = open_requests(request, scenario);
  }
  ServingSource source(std::move(parts));
  run.source = source.header().source;
  run.machine.platform = std::make_unique<hw::Platform>(std::move(scenario));
  run.room = room_for(source, *run.machine.platform);
  source.begin(run.room.blocks, seed, machine_of(source, *run.machine.platform));
  serve(source, run);

  run.machine.makespan = hw::sim_now();
  run.outcomes = source.outcomes();
  run.oddities = source.oddities();
  run.counters = source.batcher().counters();
  if (run.counters.arrived == 0)
    throw UserError(traces::place_of(request.requests),
                    "no request in it, expected a trace of requests");
  run.peak_held_blocks = source.batcher().blocks().peak_held();
  run.evicted_blocks = source.batcher().blocks().evicted();
  run.fold = source.fold();
  run.utilisation = source.utilisation();
  run.alike = source.alike();
  run.first_arrival_ns = source.first_arrival_ns();
  run.end_ns = source.now_ns();
  run.machine.ledger = hw::balance(*run.machine.platform, run.machine.totals, run.machine.makespan);
  balance_requests(source, run);
  run.machine.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return run;
}

} // namespace umf::app
