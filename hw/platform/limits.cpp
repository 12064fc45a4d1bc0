#include "hw/platform/limits.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace umf::hw {

namespace {

constexpr std::string_view kLinks = "links";

void lift_l2(L2Config& l2) {
  l2.slice_bandwidth = l2.crossbar_bandwidth = {kEndlessRate};
  l2.near_latency = l2.far_latency = l2.miss_latency = {};
}

void lift_scheduler(SchedulerConfig& unit) {
  unit.lookup_rate = {kEndlessRate};
  unit.lookup_latency = unit.walk_latency = {};
}

void lift_launch(GpuConfig& gpu) {
  gpu.launch.eager = gpu.launch.graph = gpu.launch.programmatic = {};
  gpu.launch.kernel_overhead = gpu.copy_engine.setup = {};
}

void lift_compute(ComputeConfig& compute) {
  for (auto* rate : {&compute.f64, &compute.f32, &compute.tf32, &compute.f16, &compute.bf16,
                     &compute.f8, &compute.i8})
    *rate = {kEndlessRate};
}

void lift_link(Link::Options& link) {
  link.raw_bytes_per_second = kEndlessRate;
  link.read_window_bytes = 0;
  link.one_way = {};
  link.changes.clear();
}

} // namespace

std::vector<std::string> limits_of(const Scenario& scenario) {
  std::vector<std::string> limits;
  for (const auto& tier : scenario.tiers)
    if (tier->liftable() && std::find(limits.begin(), limits.end(), tier->kind) == limits.end())
      limits.push_back(tier->kind);
  for (const LinkSpec& link : scenario.links)
    limits.push_back(std::string(kLinkLimit) + link.name);
  if (scenario.links.size() > 1) limits.emplace_back(kLinks);
  for (const char* part : {"l2", "scheduler", "launch", "compute"})
    limits.emplace_back(part);
  return limits;
}

void lift(Scenario& scenario, std::string_view asked) {
  std::string limit(asked);
  if (limit.rfind("link:", 0) == 0) limit[kLinkLimit.size() - 1] = ' ';
  const auto there = limits_of(scenario);
  if (std::find(there.begin(), there.end(), limit) == there.end())
    throw UserError(fmt::format("--ideal: this machine has no limit {}, expected one of {}{}",
                                in_quotes(limit), fmt::join(there, ", "), near_hint(limit, there)));
  for (auto& tier : scenario.tiers)
    if (tier->kind == limit) tier->lift();
  for (LinkSpec& link : scenario.links)
    if (limit == kLinks || std::string(kLinkLimit) + link.name == limit) lift_link(link.options);
  if (limit == "l2") lift_l2(scenario.gpu.l2);
  if (limit == "scheduler") lift_scheduler(scenario.scheduler);
  if (limit == "launch") lift_launch(scenario.gpu);
  if (limit == "compute") lift_compute(scenario.gpu.compute);
}

} // namespace umf::hw
