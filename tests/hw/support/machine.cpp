#include "tests/hw/support/machine.h"

#include "tests/hw/support/memory_source.h"

#include "hw/platform/foresight.h"

#include "model/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace umf::test {

namespace {

const char* const kMachine = R"({
  "name": "machine",
  "gpu": {
    "sms": 100, "clock": "1GHz",
    "l2": { "capacity": "32MiB", "slices": 80, "slice_bandwidth": "64B/clk",
            "crossbar_bandwidth": "4000B/clk", "dirty_limit": 0.5,
            "near_latency": "200ns", "far_latency": "200ns", "miss_latency": "50ns" },
    "launch": { "eager": "1000ns", "kernel_overhead": "500ns" },
    "compute": { "f32": "100TFLOP/s", "efficiency": 1.0, "overlap_tiles": 16 },
    "copy_engine": { "setup": "1000ns" }
  },
  "tiers": { "hbm": { "kind": "hbm", "capacity": "8GiB", "bandwidth": "1TB/s",
                      "read_efficiency": 1.0, "mix_loss": 0.0, "media_latency": "100ns" } },
  "scheduler": { "walk_latency": "0ns" },
  "policy": { "name": "hbm-only" }
})";

const char* const kPool = R"({
  "tiers": { "cxl": { "kind": "cxl", "capacity": "8GiB", "efficiency": 0.87, "mix_loss": 0.0,
                      "controller_latency": "62ns", "media_latency": "45ns" } },
  "links": { "gpu0-cxl": { "kind": "cxl", "from": "gpu0", "to": "cxl", "generation": 5,
                           "width": 16, "one_way_latency": "25ns" } },
  "policy": { "name": "static", "default_hbm_share": 0.0 }
})";

const char* const kHost = R"({
  "tiers": { "host": { "kind": "host", "media_latency": "137ns" } },
  "links": { "gpu0-host": { "kind": "pcie", "from": "gpu0", "to": "host", "generation": 5,
                            "width": 16, "one_way_latency": "70ns" } }
})";

stream::Access access(stream::TensorId id, Bytes bytes, std::uint64_t offset, bool write) {
  stream::Access access;
  access.tensor = id;
  access.write = write;
  access.rule = stream::Rule::recorded;
  access.offset = offset;
  access.length = bytes;
  return access;
}

} // namespace

hw::Scenario machine(const std::string& patch) {
  auto document = nlohmann::ordered_json::parse(kMachine);
  document.merge_patch(nlohmann::ordered_json::parse(patch));
  return hw::read_scenario(parse_json(document.dump(), "machine.json"));
}

std::string pool_patch() {
  return kPool;
}

std::string host_patch() {
  return kHost;
}

std::string both(const std::string& first, const std::string& second) {
  auto document = nlohmann::ordered_json::parse(first);
  document.merge_patch(nlohmann::ordered_json::parse(second));
  return document.dump();
}

stream::Tensor tensor(stream::TensorId id, Bytes bytes, stream::Role role) {
  stream::Tensor tensor;
  tensor.id = id;
  tensor.name = fmt::format("t{}", id);
  tensor.role = role;
  tensor.bytes = bytes;
  return tensor;
}

stream::Access reads(stream::TensorId id, Bytes bytes, std::uint64_t offset) {
  return access(id, bytes, offset, false);
}

stream::Access writes(stream::TensorId id, Bytes bytes, std::uint64_t offset) {
  return access(id, bytes, offset, true);
}

stream::Kernel kernel(stream::KernelId id, std::vector<stream::Access> accesses, double flops,
                      stream::StreamId on) {
  stream::Kernel kernel;
  kernel.id = id;
  kernel.name = fmt::format("k{}", id);
  kernel.stream = on;
  kernel.flops = flops;
  kernel.flops_dtype = stream::DType::f32;
  kernel.accesses = std::move(accesses);
  return kernel;
}

stream::Copy copy(std::uint64_t id, stream::CopyKind kind, Bytes bytes, stream::StreamId on) {
  stream::Copy copy;
  copy.id = id;
  copy.kind = kind;
  copy.stream = on;
  copy.bytes = bytes;
  return copy;
}

std::string Outcome::unbalanced() const {
  std::string names;
  for (const auto& check : ledger)
    if (!check.ok())
      names += fmt::format("{}: {} against {}\n", check.name, check.left, check.right);
  return names;
}

hw::TenantSetup tenant_of(std::vector<stream::Record> records) {
  hw::TenantSetup tenant;
  for (const auto& record : records)
    if (const auto* t = std::get_if<stream::Tensor>(&record);
        t != nullptr && t->role == stream::Role::weight)
      tenant.initial.push_back({*t, 0});
  tenant.open = [records = std::move(records)] { return std::make_unique<MemorySource>(records); };
  return tenant;
}

Outcome replay_tenants(hw::Scenario scenario, std::vector<std::vector<stream::Record>> traces,
                       const std::string& model) {
  std::vector<hw::TenantSetup> tenants;
  for (auto& records : traces) {
    tenants.push_back(tenant_of(std::move(records)));
    tenants.back().model = model;
  }
  return replay_setups(std::move(scenario), tenants);
}

Outcome replay_setups(hw::Scenario scenario, const std::vector<hw::TenantSetup>& tenants) {
  std::vector<std::shared_ptr<const policy::Future>> futures;
  if (scenario.policies.front()->wants_future()) futures = hw::foresee(scenario, tenants);
  Outcome outcome;
  outcome.platform = std::make_unique<hw::Platform>(std::move(scenario));
  for (std::uint32_t g = 0; g < futures.size(); ++g)
    outcome.platform->brain(g).foresee(futures[g]);
  hw::Replay replay(*outcome.platform, tenants,
                    [&](hw::OperationRow&& row) { outcome.rows.push_back(std::move(row)); });
  replay.run();
  std::sort(outcome.rows.begin(), outcome.rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.tenant, a.result.id) < std::pair(b.tenant, b.result.id);
  });
  outcome.tenants = replay.results();
  outcome.totals = replay.totals();
  outcome.processes = replay.processes();
  outcome.makespan = hw::sim_now();
  outcome.ledger = hw::balance(*outcome.platform, outcome.totals, outcome.makespan);
  return outcome;
}

Outcome replay(hw::Scenario scenario, std::vector<stream::Record> records) {
  return replay_tenants(std::move(scenario), {std::move(records)});
}

Femtoseconds time_of(double amount, double rate) {
  return {std::llround(amount / rate * 1e15)};
}

Femtoseconds distance(Femtoseconds a, Femtoseconds b) {
  return {std::abs(a.count - b.count)};
}

} // namespace umf::test
