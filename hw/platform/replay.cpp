#include "hw/platform/replay.h"

#include "hw/platform/replay_tenant.h"

#include <algorithm>
#include <utility>

namespace umf::hw {

ReplayTotals& ReplayTotals::operator+=(const ReplayTotals& other) {
  kernels += other.kernels;
  unknown_kernels += other.unknown_kernels;
  copies += other.copies;
  memsets += other.memsets;
  copy_side_bytes += other.copy_side_bytes;
  skipped_host_side += other.skipped_host_side;
  operations_energy += other.operations_energy;
  requests += other.requests;
  host += other.host;
  return *this;
}

Replay::Replay(Platform& platform, const std::vector<TenantSetup>& tenants, Row row)
    : machine_{platform, std::move(row),
               [this](Femtoseconds when, std::uint32_t tenant, std::uint64_t operation) {
                 releases_.at(when, {tenant, operation});
                 arm();
               },
               static_cast<std::uint32_t>(tenants.size())} {
  for (std::uint32_t t = 0; t < tenants.size(); ++t)
    tenants_.push_back(std::make_unique<ReplayTenant>(machine_, tenants[t], t));
  machine_.processes.loaded();
  for (std::uint32_t g = 0; g < platform.gpus(); ++g) {
    platform.gpu(g).on_done([this](OperationResult result) { done(std::move(result)); });
    platform.scheduler(g).on_command_done([this] {
      for (auto& tenant : tenants_)
        tenant->command_done();
    });
  }
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&due_);
  sc_core::sc_spawn([this] { machine_.platform.clock().guard([this] { release_due(); }); },
                    "replay_release", &options);
}

Replay::~Replay() = default;

void Replay::run() {
  for (auto& tenant : tenants_)
    tenant->start();
  machine_.platform.run();
  if (interrupted_) return;
  for (const auto& tenant : tenants_)
    ensure(tenant->finished(), "replay ended with operations left: a dependency never met");
}

std::vector<TenantResult> Replay::results() const {
  std::vector<TenantResult> results;
  for (const auto& tenant : tenants_)
    results.push_back(tenant->result());
  return results;
}

ReplayTotals Replay::totals() const {
  ReplayTotals all;
  for (const auto& tenant : tenants_)
    all += tenant->result().totals;
  return all;
}

ProcessFigures Replay::processes() {
  machine_.processes.look();
  return machine_.processes.figures();
}

void Replay::arm() {
  if (releases_.empty()) return;
  due_.cancel();
  due_.notify(to_sc(std::max(releases_.next(), sim_now()) - sim_now()));
}

void Replay::release_due() {
  const Femtoseconds now = sim_now();
  while (!releases_.empty() && releases_.next() <= now) {
    const Release release = releases_.take();
    tenants_[release.tenant]->release(release.operation);
  }
  arm();
}

void Replay::done(OperationResult&& result) {
  ReplayTenant& tenant = *tenants_.at(result.tenant);
  tenant.done(std::move(result));
  if (poll_ && (++finished_ & 63) == 0 && !poll_(finished_)) {
    interrupted_ = true;
    sc_core::sc_stop();
    return;
  }
  tenant.go_on();
  if (std::all_of(tenants_.begin(), tenants_.end(), [](const auto& t) { return t->finished(); }))
    machine_.platform.stop_changing();
}

} // namespace umf::hw
