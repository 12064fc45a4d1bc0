#include "hw/link/network.h"

#include "model/base/error.h"

#include <algorithm>
#include <bit>

/// What the ends of a link tell each other: acknowledgements, credits, errors, training.
namespace umf::hw::link {

/// A packet has arrived on `towards`; its other direction owes an ACK.
void Network::owe_ack(DirectionId towards, std::uint64_t bytes) {
  const DirectionId by = towards ^ 1;
  Direction& d = directions_[by];
  d.owed_bytes += bytes;
  owe(by, d.ack_due, ++d.owed_acks >= links_[d.link].options.ack_every);
}

void Network::owe_credit(DirectionId towards, Kind kind, std::uint32_t data) {
  const DirectionId by = towards ^ 1;
  Direction& d = directions_[by];
  const LinkOptions& options = links_[d.link].options;
  const std::size_t k = index(kind);
  if (options.credits[k].headers == 0 && options.credits[k].data == 0) return;
  ++d.owed[k].headers; // also where only data are limited
  if (options.credits[k].data != 0) d.owed[k].data += data;
  owe(by, d.update_due[k], d.owed[k].headers >= options.update_every);
}

/// Due now, or at the latest when the timer, which one of them starts for all, runs out.
void Network::owe(DirectionId by, bool& due, bool now) {
  Direction& d = directions_[by];
  if (now) {
    due = true;
    d.any_due = true;
    kick(by);
  } else {
    set_timer(by);
  }
}

void Network::set_timer(DirectionId by) {
  Direction& d = directions_[by];
  if (d.control_timer) return;
  d.control_timer = true;
  events_.push(now_ + links_[d.link].options.control_wait, control_due, by);
}

/// The timer has run out: all that is owed is due.
void Network::time_out(DirectionId by) {
  Direction& d = directions_[by];
  d.control_timer = false;
  d.ack_due = d.owed_bytes > 0;
  bool any = d.ack_due || d.nak_due;
  for (std::size_t k = 0; k < kKinds; ++k)
    any = (d.update_due[k] = d.owed[k].headers > 0) || any;
  d.any_due = any;
  kick(by);
}

/// What is due as a control packet. All in one where it takes no wire of its own.
bool Network::send_control(DirectionId direction) {
  Direction& d = directions_[direction];
  const LinkOptions& options = links_[d.link].options;
  const bool free = options.control_bytes == 0;
  const std::uint32_t control = make_control(d, free, UINT32_MAX);
  if (control == kNone) return false;
  Femtoseconds end = now_;
  if (!free) {
    const Femtoseconds begin = occupy(d, options.control_bytes);
    d.statistics.control += d.busy_until - begin;
    end = d.busy_until;
  }
  events_.push(end + options.latency, control_landed, direction, control);
  if (!free && has_work(d)) set_wake(direction);
  return true;
}

/// One thing that is due, or `all` that is owed, up to `most` of each.
std::uint32_t Network::make_control(Direction& d, bool all, std::uint32_t most) {
  const std::uint32_t index = controls_.make();
  Control& control = controls_[index];
  bool used = false;
  const auto go_on = [&] { return all || !used; };
  if (d.nak_due) {
    control.nak = used = true;
    d.nak_due = false;
    ++d.statistics.naks;
  }
  if (go_on() && (d.ack_due || (all && d.owed_bytes > 0))) {
    control.bytes = d.owed_bytes;
    d.owed_bytes = d.owed_acks = 0;
    d.ack_due = false;
    used = true;
    ++d.statistics.acks;
  }
  for (std::size_t k = 0; k < kKinds && go_on(); ++k) {
    Owed& owed = d.owed[k];
    if (owed.headers == 0 || !(all || d.update_due[k])) continue;
    std::uint32_t headers = owed.headers;
    if (most != UINT32_MAX) headers = std::bit_floor(std::min(headers, most)); // 1, 2, 4 … most
    control.credit[k] = {headers, headers == owed.headers ? owed.data : 0};
    owed.headers -= headers;
    owed.data -= control.credit[k].data;
    d.update_due[k] = owed.headers >= links_[d.link].options.update_every;
    used = true;
    ++d.statistics.updates;
  }
  d.any_due = d.nak_due || d.ack_due ||
              std::any_of(d.update_due.begin(), d.update_due.end(), [](bool due) { return due; });
  // What could be told in part only goes by the timer again.
  if (most != UINT32_MAX &&
      std::any_of(d.owed.begin(), d.owed.end(), [](const Owed& o) { return o.headers > 0; }))
    set_timer(id(directions_, d));
  if (!used) {
    controls_.free(index);
    return kNone;
  }
  return index;
}

/// Told by the other end through `direction`, about the one that leads there.
void Network::take_control(DirectionId direction, std::uint32_t index) {
  const Control control = controls_[index];
  controls_.free(index);
  const DirectionId about = direction ^ 1;
  Direction& d = directions_[about];
  const LinkOptions& options = links_[d.link].options;
  ensure(control.bytes <= d.unacknowledged, "link: more acknowledged than sent");
  d.unacknowledged -= control.bytes;
  for (std::size_t k = 0; k < kKinds; ++k) {
    if (options.credits[k].headers != 0) d.headers[k] += control.credit[k].headers;
    d.data[k] += control.credit[k].data;
    ensure((options.credits[k].headers == 0 || d.headers[k] <= options.credits[k].headers) &&
               (options.credits[k].data == 0 || d.data[k] <= options.credits[k].data),
           "link: more credits came back than there are");
  }
  if (control.nak) d.doomed = d.held = false;
  kick(about);
}

/// A packet with an error has arrived.
void Network::error_at(DirectionId direction) {
  const DirectionId by = direction ^ 1;
  Direction& d = directions_[by];
  Link& link = links_[d.link];
  d.nak_due = d.any_due = true;
  if (link.options.errors_to_degrade > 0 && !link.degraded) {
    if (link.errors == 0 || now_ - link.errors_from > link.options.error_window) {
      link.errors = 0;
      link.errors_from = now_;
    }
    if (++link.errors >= link.options.errors_to_degrade) {
      link.degraded = true;
      link.errors = 0;
      const WireRate before = link.rate;
      begin_training(d.link, link.options.degraded);
      if (link.options.degraded_for.count != 0)
        retrain(d.link, now_ + link.options.degraded_for, before);
    }
  }
  kick(by);
}

void Network::retrain(LinkId link, Femtoseconds at, const WireRate& rate) {
  links_[link].next_rates.push_back(rate);
  events_.push(std::max(at, now_), train, link, links_[link].next_rates.size() - 1);
}

void Network::begin_training(LinkId index, const WireRate& rate) {
  Link& link = links_[index];
  Femtoseconds begin = now_;
  for (const DirectionId way : {2 * index, 2 * index + 1})
    begin = std::max(begin, directions_[way].busy_until);
  for (const DirectionId way : {2 * index, 2 * index + 1}) {
    Direction& d = directions_[way];
    d.busy_until = begin + link.options.recovery;
    d.statistics.down += link.options.recovery;
    ++d.statistics.retrainings;
  }
  link.active = std::max(link.active, begin + link.options.recovery);
  link.degraded = link.degraded && rate == link.options.degraded;
  link.rate = rate;
}

} // namespace umf::hw::link
