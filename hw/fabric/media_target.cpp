#include "hw/fabric/media_target.h"

#include "model/base/error.h"
#include "model/energy/energy.h"

#include <algorithm>
#include <limits>

namespace umf::hw {

std::string_view name_of(Boundary boundary) {
  constexpr std::array<std::string_view, kBoundaries> names = {"media", "port", "scheduler",
                                                               "l2_miss", "sm"};
  return names[static_cast<std::size_t>(boundary)];
}

namespace {
/// The lowest boundary whose latency includes queueing in front of a resource of this cause.
Boundary queue_boundary(Cause cause) {
  switch (cause) {
  case Cause::link_bandwidth:
    return Boundary::port;
  case Cause::translation:
  case Cause::scheduler:
    return Boundary::scheduler;
  case Cause::l2_fabric:
    return Boundary::sm;
  default:
    return Boundary::media;
  }
}

double length_of_row(const tlm::tlm_generic_payload& payload, const Burst& burst) {
  return burst.row.bytes > 0 ? burst.row.bytes : static_cast<double>(payload.get_data_length());
}
} // namespace

MediaTarget::MediaTarget(sc_core::sc_module_name module, FlowClock& clock, Bytes line,
                         MediaEnergy energy)
    : sc_core::sc_module(module), clock_(clock), line_(line), energy_(energy) {
  in.register_nb_transport_fw(this, &MediaTarget::nb_transport_fw);
}

tlm::tlm_sync_enum MediaTarget::nb_transport_fw(int upstream, tlm::tlm_generic_payload& payload,
                                                tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED; // END_RESP: nothing left to do
  payload.acquire();
  Burst& burst = burst_of(payload);
  admit(payload, burst);
  if (burst.batch_service.count > 0 && burst.window_count > 0) {
    const FlowNetwork::Mix mix{burst.load_share, length_of_row(payload, burst)};
    double carried = std::numeric_limits<double>::infinity();
    for (std::size_t h = 0; h < burst.hop_count; ++h)
      if (const Hop& hop = burst.hops[h]; hop.use > 0)
        carried = std::min(carried, clock_.network().capacity(hop.resource, mix) / hop.use);
    burst.queue_behind(carried, clock_.network().capacity(burst.windows[0].resource));
  }
  burst.close_windows();

  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  slots_[slot] = {&payload, sim_now(), {}, upstream};
  hops_.assign(burst.hops.begin(), burst.hops.begin() + burst.hop_count);
  if (!hops_.empty())
    burst.flow = clock_.start(static_cast<double>(payload.get_data_length()), hops_, burst.urgency,
                              payload.is_write(), *this, slot, burst.weight, burst.row);
  else
    ensure(!moved(slot), "tier: a burst with nothing to wait for");
  begun(slot, payload);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void MediaTarget::flow_ended(std::uint64_t tag, ResourceId limit) {
  const auto id = static_cast<std::uint32_t>(tag);
  Slot& slot = slots_[id];
  slot.limit = limit;
  slot.took = sim_now() - slot.started;
  burst_of(*slot.payload).flow = kNoId;
  if (moved(id)) answer(id);
}

void MediaTarget::answer(std::uint32_t id, Femtoseconds outside) {
  const Slot slot = slots_[id];
  slots_[id].payload = nullptr;
  free_slots_.push_back(id);
  Burst& burst = burst_of(*slot.payload);
  charge(*slot.payload, burst);
  record(slot, burst, outside);

  slot.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = to_sc(burst.total_latency());
  const auto answer =
      in[static_cast<unsigned>(slot.upstream)]->nb_transport_bw(*slot.payload, phase, delay);
  ensure(answer == tlm::TLM_COMPLETED, "tier: response not taken at once");
  slot.payload->release();
}

void MediaTarget::charge(const tlm::tlm_generic_payload& payload, Burst& burst) {
  const bool write = payload.is_write();
  const Femtojoules spent =
      energy::of(Bytes{payload.get_data_length()}, write ? energy_.write : energy_.read);
  (write ? statistics_.write_energy : statistics_.read_energy) += spent;
  burst.energy += spent;
}

MediaTarget::Served MediaTarget::served_at(Femtoseconds now) const {
  double read = 0, written = 0;
  for (const Slot& slot : slots_) {
    if (slot.payload == nullptr) continue;
    const double length = slot.payload->get_data_length();
    const FlowId flow = slot.payload->get_extension<Burst>()->flow;
    if (flow == kNoId) continue; // waits outside the flows: counted once it is done
    const double passed = std::max(length - clock_.network().remaining_at(flow, now), 0.0);
    (slot.payload->is_write() ? written : read) += passed;
  }
  return {statistics_.read_bytes + static_cast<std::uint64_t>(read),
          statistics_.write_bytes + static_cast<std::uint64_t>(written)};
}

void MediaTarget::record(const Slot& slot, const Burst& burst, Femtoseconds outside) {
  const tlm::tlm_generic_payload& payload = *slot.payload;
  const std::uint64_t bytes = payload.get_data_length();
  (payload.is_write() ? statistics_.write_bytes : statistics_.read_bytes) += bytes;
  if (burst.purpose == Purpose::demand_read) statistics_.demand_read_bytes += bytes;
  ++statistics_.bursts;
  if (burst.purpose != Purpose::demand_read) return;

  const auto part = [&](Cause cause) { return burst.latency[static_cast<std::size_t>(cause)]; };
  const std::int64_t tier = part(Cause::hbm_latency) + part(Cause::cxl_latency) +
                            part(Cause::host) + part(Cause::sram) + outside.count;
  const std::int64_t media = tier - burst.above_media;
  const std::int64_t port = tier + part(Cause::link_latency);
  const std::int64_t scheduler = port + part(Cause::scheduler) + part(Cause::translation);
  const std::int64_t sm = burst.total_latency().count + outside.count;
  const std::int64_t wait = slot.limit == kNoId ? 0 : queueing(payload, burst, slot.took);
  const std::uint64_t lines = (bytes + line_.count - 1) / line_.count;
  const std::array<std::int64_t, kBoundaries> at = {media, port, scheduler,
                                                    sm - burst.above_l2_miss, sm};
  const auto waits_at =
      slot.limit == kNoId ? Boundary::media : queue_boundary(clock_.cause_of(slot.limit));
  for (std::size_t b = 0; b < kBoundaries; ++b) {
    const std::int64_t queued = b >= static_cast<std::size_t>(waits_at) ? wait : 0;
    statistics_.latency[b].add(static_cast<std::uint64_t>(at[b] + queued) / 1000, lines);
  }
}

/// What a line spends beyond the unloaded path. The asker keeps its window full, so by
/// Little's law a line is in flight for window / rate.
std::int64_t MediaTarget::queueing(const tlm::tlm_generic_payload& payload, const Burst& burst,
                                   Femtoseconds took) const {
  if (burst.window_count == 0) return 0;
  const auto& window = burst.windows[0];
  const auto& network = clock_.network();
  const double share =
      network.capacity(window.resource) / static_cast<double>(network.users(window.resource) + 1);
  const double bytes = static_cast<double>(payload.get_data_length());
  const double held = std::min(share / bytes, 1.0) * static_cast<double>(took.count);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(held) - burst.total_latency().count -
                                       window.extra);
}

} // namespace umf::hw
