#include "hw/fabric/burst.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>

namespace umf::hw {

void Burst::add_hop(ResourceId resource, double use) {
  ensure(hop_count < kHops, "burst: path longer than the extension holds");
  hops[hop_count++] = {resource, use};
}

void Burst::add_hop_ahead(ResourceId resource, double use) {
  add_hop(resource, use);
  hops[hop_count - 1].ahead = true;
}

void Burst::stand_for(double times) {
  for (std::uint8_t h = 0; h < hop_count; ++h)
    hops[h].use *= times;
  for (std::uint8_t w = 0; w < window_count; ++w)
    windows[w].share *= times;
}

void Burst::add_latency(Cause cause, Femtoseconds both_ways) {
  latency[static_cast<std::size_t>(cause)] += both_ways.count;
}

void Burst::add_window(ResourceId resource, Femtoseconds extra, double share) {
  ensure(window_count < windows.size(), "burst: too many windows on the path");
  windows[window_count++] = {resource, total_latency().count, extra.count, share};
}

/// A queue with drawn arrivals of batches and one service time s waits s·u / 2(1 − u) at load u
/// (M/D/1; Pollaczek–Khinchine). With latency L and capacity C the window W sustains the rate
/// u·C that solves u·C·(L + wait) = W, a quadratic in u.
void Burst::queue_behind(double carried, double window) {
  if (batch_service.count == 0 || window_count == 0) return;
  Window& first = windows[0];
  const double held = static_cast<double>(total_latency().count - first.before + first.extra);
  const double full = window / first.share, capacity = carried * load_share * 1e-15; // a fs
  const double a = capacity * (static_cast<double>(batch_service.count) / 2 - held);
  const double b = capacity * held + full;
  const double load = 2 * full / (b + std::sqrt(b * b + 4 * a * full));
  const double wait = full / (load * capacity) - held;
  first.extra += static_cast<std::int64_t>(std::max(wait, 0.0));
}

void Burst::close_windows() {
  const Femtoseconds total = total_latency();
  for (std::size_t w = 0; w < window_count; ++w) {
    const Window& window = windows[w];
    const Femtoseconds held = total - Femtoseconds{window.before} + Femtoseconds{window.extra};
    if (held.count > 0) add_hop(window.resource, window.share * held.seconds());
  }
}

Femtoseconds Burst::total_latency() const {
  std::int64_t sum = 0;
  for (const auto part : latency)
    sum += part;
  return {sum};
}

void Burst::push_route(std::size_t upstream) {
  ensure(depth < kDepth, "burst: too many interconnects on the path");
  route[depth++] = static_cast<std::uint16_t>(upstream);
}

std::size_t Burst::pop_route() {
  ensure(depth > 0, "burst: response without a way back");
  return route[--depth];
}

void Burst::reset() {
  token = 0;
  request = kNoId;
  gpu = 0;
  row = {};
  step = UINT32_MAX;
  tier = 0;
  purpose = Purpose::demand_read;
  urgency = Urgency::demand;
  weight = 1.0;
  above_l2_miss = 0;
  above_media = 0;
  energy = {};
  flow = kNoId;
  held_by.reset();
  window_count = 0;
  batch_service = {};
  load_share = 1.0;
  hop_count = 0;
  latency.fill(0);
  depth = 0;
}

PayloadPool::PayloadPool(Bytes longest_burst)
    : longest_(longest_burst.count),
      scratch_(std::make_unique_for_overwrite<unsigned char[]>(longest_burst.count)) {}

PayloadPool::~PayloadPool() {
  for (auto& payload : all_)
    payload->free_all_extensions();
}

tlm::tlm_generic_payload& PayloadPool::acquire(bool write, std::uint64_t address, Bytes length) {
  ensure(length.count > 0 && length.count <= longest_, "burst longer than its buffer");
  if (idle_.empty()) {
    all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
    all_.back()->set_extension(new Burst); // owned by the payload from here
    idle_.push_back(all_.back().get());
  }
  tlm::tlm_generic_payload& payload = *idle_.back();
  idle_.pop_back();
  payload.acquire();
  burst_of(payload).reset();
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(scratch_.get());
  payload.set_data_length(static_cast<unsigned>(length.count));
  payload.set_streaming_width(static_cast<unsigned>(length.count));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return payload;
}

void PayloadPool::free(tlm::tlm_generic_payload* payload) {
  payload->reset(); // what a foreign module may have attached
  idle_.push_back(payload);
}

} // namespace umf::hw
