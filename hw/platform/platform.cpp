#include "hw/platform/platform.h"

#include "hw/platform/peaks.h"

#include "model/base/error.h"

#include <algorithm>
#include <map>

namespace umf::hw {

namespace {

/// One femtosecond, set before the first sc_time exists.
Scenario with_resolution(Scenario scenario) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  return scenario;
}

/// SystemC's names know fewer characters than ours: "a-b" and "a_b" must not meet.
std::string module_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  const bool taken = sc_core::sc_find_object(name.c_str()) != nullptr;
  return taken ? sc_core::sc_gen_unique_name(name.c_str()) : name;
}

} // namespace

Platform::Platform(Scenario scenario)
    : scenario_(with_resolution(std::move(scenario))), topology_(scenario_),
      pool_(scenario_.scheduler.max_burst) {
  build_tiers();
  build_interconnects();
  for (std::uint32_t g = 0; g < scenario_.general.gpus; ++g)
    build_gpu(g);
  hot_.resize(tiers_.size());
  for (std::size_t l = 0; l < links_.size(); ++l)
    links_[l]->on_change([this, l] { way_changed(l); });
  sampler_ = std::make_unique<Sampler>(*this, scenario_.report);
  clock_.set_observer(*sampler_);
}

void Platform::build_tiers() {
  for (const auto& spec : scenario_.tiers) {
    const std::uint32_t instances = spec->on_package() ? scenario_.general.gpus : 1;
    for (std::uint32_t i = 0; i < instances; ++i) {
      TierInstance tier;
      tier.name = instances == 1 ? spec->name : gpu_name(i) + "." + spec->name;
      tier.spec = spec.get();
      tier.gpu = i;
      tier.module = spec->make(module_name("tier_" + tier.name), clock_, tier.name);
      tier.frames = std::make_unique<memory::FrameAllocator>(spec->capacity().count /
                                                             scenario_.scheduler.page.count);
      tiers_.push_back(std::move(tier));
    }
  }
}

/// Binds each link's downstream end, and switches' ports in order of links.
void Platform::build_interconnects() {
  std::map<std::string, PcieSwitch*> by_name;
  for (const std::string& name : topology_.switches()) {
    const auto configured = scenario_.switches.find(name);
    switches_.push_back(std::make_unique<PcieSwitch>(
        module_name("switch_" + name).c_str(),
        configured == scenario_.switches.end() ? PcieSwitchConfig{} : configured->second));
    by_name[name] = switches_.back().get();
  }
  std::map<std::string, std::size_t> ports;
  std::vector<std::size_t> port_of_link(scenario_.links.size());
  for (std::size_t l = 0; l < scenario_.links.size(); ++l) {
    const LinkSpec& spec = scenario_.links[l];
    links_.push_back(
        std::make_unique<Link>(module_name("link_" + spec.name).c_str(), clock_, spec.options));
    if (const auto to = by_name.find(spec.to); to != by_name.end()) {
      links_.back()->out.bind(to->second->in);
    } else {
      const auto tier = std::find_if(tiers_.begin(), tiers_.end(),
                                     [&](const TierInstance& t) { return t.name == spec.to; });
      ensure(tier != tiers_.end(), "link leads nowhere");
      links_.back()->out.bind(tier->module->in);
    }
    if (const auto from = by_name.find(spec.from); from != by_name.end()) {
      from->second->out.bind(links_.back()->in);
      port_of_link[l] = ports[spec.from]++;
    }
  }
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    const auto spec = std::find_if(scenario_.tiers.begin(), scenario_.tiers.end(),
                                   [&](const auto& s) { return s.get() == tiers_[t].spec; });
    const auto index = static_cast<std::size_t>(spec - scenario_.tiers.begin());
    for (std::uint32_t g = 0; g < scenario_.general.gpus; ++g) {
      const Path* path = topology_.path(g, index);
      if (path == nullptr) continue;
      for (const std::size_t l : *path)
        if (const auto from = by_name.find(scenario_.links[l].from); from != by_name.end())
          from->second->set_route(static_cast<std::uint16_t>(t), port_of_link[l]);
    }
  }
}

void Platform::build_gpu(std::uint32_t g) {
  policy::Ground ground;
  ground.page = scenario_.scheduler.page;
  ground.packing = scenario_.scheduler.packing();
  const Peaks peaks(scenario_);
  int host = -1;
  std::vector<const Path*> paths;
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    const auto spec = std::find_if(scenario_.tiers.begin(), scenario_.tiers.end(),
                                   [&](const auto& s) { return s.get() == tiers_[t].spec; });
    paths.push_back(path(g, t));
    const bool usable = paths.back() != nullptr;
    // A brain's tier indices are the platform's; tiers out of reach have no frames for it.
    static memory::FrameAllocator none(0);
    ground.tiers.push_back(
        {tiers_[t].name,
         tiers_[t].spec->tier_class(),
         usable ? tiers_[t].frames.get() : &none,
         {peaks.way(g, static_cast<std::size_t>(spec - scenario_.tiers.begin())).read}});
    if (usable && host < 0 && tiers_[t].spec->tier_class() == policy::TierClass::host)
      host = static_cast<int>(t);
  }
  host_tier_.push_back(host);

  brains_.push_back(std::make_unique<scheduler::Brain>(
      std::move(ground), std::move(scenario_.policies[g]), scenario_.scheduler.coherence(),
      scenario_.scheduler.degrading()));
  schedulers_.push_back(std::make_unique<Scheduler>(("scheduler" + std::to_string(g)).c_str(),
                                                    clock_, pool_, scenario_.scheduler, *brains_[g],
                                                    g));
  Scheduler& unit = *schedulers_.back();
  unit.set_sensors([this, g](Femtoseconds now) { return moved(g, now); }, hbm_peak(g));
  std::size_t ports = 0;
  std::map<std::size_t, std::size_t> port_of_link;
  for (std::size_t t = 0; t < tiers_.size(); ++t) {
    if (paths[t] == nullptr) continue;
    std::size_t port;
    if (paths[t]->empty()) {
      unit.ports.bind(tiers_[t].module->in);
      port = ports++;
    } else if (const auto known = port_of_link.find(paths[t]->front());
               known != port_of_link.end()) {
      port = known->second;
    } else {
      unit.ports.bind(links_[paths[t]->front()]->in);
      port = ports++;
      port_of_link[paths[t]->front()] = port;
    }
    unit.set_route(static_cast<std::uint16_t>(t), port);
  }
  gpus_.push_back(
      std::make_unique<Gpu>(gpu_name(g).c_str(), scenario_.gpu,
                            Gpu::Parts{clock_, pool_, unit, g, scenario_.scheduler.max_burst}));
  gpus_.back()->reads.bind(unit.reads);
  gpus_.back()->writes.bind(unit.writes);
  Gpu* gpu = gpus_.back().get();
  unit.before_change([gpu] { gpu->account(sim_now()); });
}

/// By the tiers a GPU can have pages in.
Scheduler::Moved Platform::moved(std::uint32_t g, Femtoseconds now) const {
  Scheduler::Moved moved;
  for (const TierInstance& tier : tiers_) {
    if (tier.spec->on_package() && tier.gpu != g) continue;
    const auto served = tier.module->served_at(now);
    const std::uint64_t bytes = served.read + served.written;
    moved.all += bytes;
    if (tier.spec->tier_class() == policy::TierClass::hbm) moved.hbm += bytes;
    if (tier.spec->tier_class() == policy::TierClass::sram) moved.sram += bytes;
  }
  return moved;
}

BytesPerSecond Platform::hbm_peak(std::uint32_t g) const {
  BytesPerSecond peak{};
  for (const TierInstance& tier : tiers_)
    if (tier.spec->tier_class() == policy::TierClass::hbm && tier.gpu == g)
      peak.value += tier.spec->at_most().value;
  return peak;
}

/// Null for what another GPU has on its package too.
const Path* Platform::path(std::uint32_t g, std::size_t t) const {
  if (tiers_[t].spec->on_package() && tiers_[t].gpu != g) return nullptr;
  const auto spec = std::find_if(scenario_.tiers.begin(), scenario_.tiers.end(),
                                 [&](const auto& s) { return s.get() == tiers_[t].spec; });
  return topology_.path(g, static_cast<std::size_t>(spec - scenario_.tiers.begin()));
}

void Platform::way_changed(std::size_t link) {
  for (std::uint32_t g = 0; g < gpus(); ++g)
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      const Path* way = path(g, t);
      if (way != nullptr && std::find(way->begin(), way->end(), link) != way->end()) tell_way(g, t);
    }
}

void Platform::set_hot(std::size_t tier, bool hot) {
  hot_[tier] = hot;
  for (std::uint32_t g = 0; g < gpus(); ++g)
    if (path(g, tier) != nullptr) tell_way(g, tier);
}

/// The slowest link counts, before as now: one of several that fall back matters only where it
/// becomes the slowest.
void Platform::tell_way(std::uint32_t g, std::size_t t) {
  scheduler::Condition condition{.hot = hot_[t]};
  double configured = kEndlessRate, now = kEndlessRate;
  for (const std::size_t l : *path(g, t)) {
    configured = std::min(configured, links_[l]->configured_rate());
    now = std::min(now, links_[l]->rate());
    condition.errors = std::max(condition.errors, links_[l]->errors());
  }
  condition.rate = now / configured;
  schedulers_[g]->way_changed(static_cast<std::uint16_t>(t), condition);
}

void Platform::stop_changing() {
  for (auto& link : links_)
    link->stop_changing();
}

void Platform::run() {
  sc_core::sc_start();
  clock_.rethrow_failure();
  const Femtoseconds end = sim_now();
  for (auto& gpu : gpus_)
    gpu->account(end);
  sampler_->finish(end);
}

} // namespace umf::hw
