#include "tests/hw/scheduler/bench.h"

#include "model/base/error.h"

#include <utility>

namespace umf::test {

Asker::Asker(sc_core::sc_module_name module, hw::PayloadPool& pool)
    : sc_core::sc_module(module), pool_(pool) {
  reads.register_nb_transport_bw(this, &Asker::back_reads);
  writes.register_nb_transport_bw(this, &Asker::back_writes);
}

std::size_t Asker::ask(const What& what) {
  ensure(!blocked_[what.write], "asker: request exclusion rule");
  const std::size_t number = asks_.size();
  asks_.push_back({"begin", {-1}, {-1}, {-1}});
  auto& payload = pool_.acquire(what.write, what.address, {what.length});
  auto& burst = hw::burst_of(payload);
  burst.token = number;
  burst.purpose = what.purpose;
  if (what.slow != hw::kNoId) burst.add_hop(what.slow, 1.0);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  auto& socket = what.write ? writes : reads;
  const auto status = socket->nb_transport_fw(payload, phase, delay);
  if (status == tlm::TLM_ACCEPTED) {
    blocked_[what.write] = true;
    return number;
  }
  ensure(status == tlm::TLM_UPDATED && phase == tlm::END_REQ, "asker: expected END_REQ");
  ensure(asks_[number].phases == "begin", "asker: answered before its END_REQ");
  asks_[number].phases += " end";
  asks_[number].taken = hw::sim_now();
  return number;
}

tlm::tlm_sync_enum Asker::back(bool write, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay) {
  Ask& ask = asks_.at(hw::burst_of(payload).token);
  ensure(payload.is_write() == write, "asker: answer on the other socket");
  if (phase == tlm::END_REQ) {
    ensure(blocked_[write] && ask.phases == "begin", "asker: END_REQ out of order");
    blocked_[write] = false;
    ask.phases += " end";
    ask.taken = hw::sim_now();
    return tlm::TLM_ACCEPTED;
  }
  ensure(phase == tlm::BEGIN_RESP && ask.phases == "begin end", "asker: response out of order");
  ensure(payload.is_response_ok(), "asker: response status");
  ask.phases += " respond";
  ask.answered = hw::sim_now();
  ask.arrives = ask.answered + hw::from_sc(delay);
  payload.release();
  return tlm::TLM_COMPLETED;
}

Bench::Bench(hw::SchedulerConfig config, bool with_tiers, Femtoseconds walk) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  config.walk_latency = walk;
  clock = std::make_unique<hw::FlowClock>("clock");
  pool = std::make_unique<hw::PayloadPool>(config.max_burst);
  hbm_frames = std::make_unique<memory::FrameAllocator>(4096);
  pool_frames = std::make_unique<memory::FrameAllocator>(4096);
  policy::Ground ground;
  ground.page = config.page;
  ground.tiers.push_back({"hbm", policy::TierClass::hbm, hbm_frames.get()});
  ground.tiers.push_back({"cxl", policy::TierClass::pool, pool_frames.get()});
  auto scripted = std::make_unique<ScriptedPolicy>();
  policy = scripted.get();
  brain = std::make_unique<scheduler::Brain>(std::move(ground), std::move(scripted));
  unit = std::make_unique<hw::Scheduler>("unit", *clock, *pool, config, *brain, 0);
  asker = std::make_unique<Asker>("asker", *pool);
  asker->reads.bind(unit->reads);
  asker->writes.bind(unit->writes);
  unit->set_route(0, 0);
  unit->set_route(1, 1);
  if (!with_tiers) return;
  hw::HbmConfig fast;
  fast.bandwidth = BytesPerSecond{1e12};
  fast.read_efficiency = 1;
  fast.mix_loss = 0;
  fast.media_latency = 100_ns;
  KeyContext keys;
  const hw::dram::Standards standards;
  hbm = std::make_unique<hw::Hbm>(
      "hbm", *clock, fast, hw::hbm_media(fast, standards.find(fast.standard, "", keys)), "hbm");
  hw::CxlDeviceConfig far;
  far.bandwidth = BytesPerSecond{100e9};
  far.efficiency = 1;
  far.mix_loss = 0;
  far.controller_latency = 0_ns;
  far.media_latency = 100_ns;
  cxl = std::make_unique<hw::CxlDevice>(
      "cxl", *clock, far, hw::cxl_media(far, standards.find(far.media, "", keys)), "cxl");
  unit->ports.bind(hbm->in);
  unit->ports.bind(cxl->in);
}

std::uint64_t Bench::tensor(stream::TensorId id, std::uint64_t pages) {
  stream::Tensor tensor;
  tensor.id = id;
  tensor.name = "tensor";
  tensor.role = stream::Role::activation;
  tensor.bytes = {pages * kPage};
  brain->declare(tensor);
  brain->preload(id);
  return brain->space().at(id).base;
}

void Bench::at(Femtoseconds when, std::function<void()> act) {
  // A method, not a thread: address sanitizer cannot follow what is thrown on a coroutine's stack.
  sc_core::sc_spawn_options options;
  options.spawn_method();
  auto body = [this, when, act = std::move(act), waited = false]() mutable {
    if (std::exchange(waited, true) || when.count == 0) return clock->guard(act);
    sc_core::next_trigger(hw::to_sc(when));
  };
  sc_core::sc_spawn(std::move(body), sc_core::sc_gen_unique_name("at"), &options);
}

void Bench::run() {
  sc_core::sc_start();
  clock->rethrow_failure();
}

} // namespace umf::test
