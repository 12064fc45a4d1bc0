#include "hw/line/line_source.h"

#include "hw/fabric/flow_clock.h"
#include "model/base/error.h"

#include <algorithm>

namespace umf::hw {

/// Payloads, used again; no extension and no data.
class LineSource::Pool : public tlm::tlm_mm_interface {
public:
  tlm::tlm_generic_payload& acquire() {
    if (idle_.empty()) {
      all_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
      idle_.push_back(all_.back().get());
    }
    tlm::tlm_generic_payload& payload = *idle_.back();
    idle_.pop_back();
    payload.acquire();
    return payload;
  }
  void free(tlm::tlm_generic_payload* payload) override { idle_.push_back(payload); }

private:
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> all_;
  std::vector<tlm::tlm_generic_payload*> idle_;
};

LineSource::LineSource(sc_core::sc_module_name module, const Options& options)
    : sc_core::sc_module(module), options_(options), pool_(std::make_unique<Pool>()) {
  out.register_nb_transport_bw(this, &LineSource::nb_transport_bw);
  sc_core::sc_spawn_options method;
  method.spawn_method();
  method.dont_initialize();
  method.set_sensitivity(&go_);
  sc_core::sc_spawn([this] { pump(); }, "pump", &method);
}

LineSource::~LineSource() = default;

void LineSource::send(LineFeed& feed) {
  feed_ = &feed;
  go_.notify(sc_core::SC_ZERO_TIME);
}

/// Whether another request may go at local_, moving it to when one may.
bool LineSource::may_send() {
  if (blocked_) return false;
  if (options_.outstanding == 0) return true;
  const std::int64_t now = sim_now().count;
  while (!answers_.empty() && answers_.top() <= std::max(local_, now)) {
    answers_.pop();
    --in_flight_;
  }
  if (in_flight_ < options_.outstanding) return true;
  if (answers_.empty()) return false; // the next answer comes back here
  // The first to end is known for certain once all are, or when its time has come.
  if (answers_.size() == in_flight_) {
    local_ = std::max(local_, answers_.top());
    answers_.pop();
    --in_flight_;
    return true;
  }
  go_.notify(to_sc({answers_.top() - now}));
  return false;
}

void LineSource::pump() {
  if (pumping_ || feed_ == nullptr) return; // called back from within the loop below
  pumping_ = true;
  const std::int64_t now = sim_now().count;
  while (may_send()) {
    if (!has_head_ && !(has_head_ = feed_->next(head_))) {
      feed_ = nullptr;
      break;
    }
    local_ = std::max({local_, now, head_.not_before.count});
    if (local_ > now + options_.quantum.count) {
      go_.notify(to_sc({local_ - now}));
      break;
    }
    tlm::tlm_generic_payload& payload = pool_->acquire();
    payload.set_command(head_.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(head_.address);
    payload.set_data_length(head_.bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = to_sc({local_ - now});
    has_head_ = false;
    ++sent_;
    ++in_flight_;
    if (first_ < 0) first_ = local_;
    const auto status = out[0]->nb_transport_fw(payload, phase, delay);
    const std::int64_t at = now + static_cast<std::int64_t>(delay.value());
    if (status == tlm::TLM_COMPLETED) {
      local_ = std::max(local_, at); // a posted write: its queue has it
      answered_at(at);
      payload.release();
    } else if (status == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      local_ = std::max(local_, at);
    } else {
      blocked_ = true;
    }
  }
  pumping_ = false;
}

void LineSource::answered_at(std::int64_t time) {
  ++answered_;
  last_ = std::max(last_, time);
  if (options_.outstanding == 0)
    --in_flight_;
  else
    answers_.push(time);
}

tlm::tlm_sync_enum LineSource::nb_transport_bw(int, tlm::tlm_generic_payload& payload,
                                               tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) {
    blocked_ = false;
    go_.notify(delay);
    return tlm::TLM_ACCEPTED;
  }
  const bool held = blocked_ && payload.is_write(); // a posted write that had to wait
  if (held) blocked_ = false;
  answered_at(static_cast<std::int64_t>((sc_core::sc_time_stamp() + delay).value()));
  payload.release();
  if (options_.outstanding != 0 || held) pump();
  return tlm::TLM_COMPLETED;
}

} // namespace umf::hw
