#include "hw/link/network.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::hw::link {

std::string_view name_of(Kind kind) {
  constexpr std::string_view kNames[] = {"posted", "request", "completion", "response"};
  return kNames[index(kind)];
}

NodeId Network::add(const NodeOptions& options) {
  ensure(!routed_, "link: a node added to a network in use");
  Node node;
  node.options = options;
  const auto walk = [](const TranslationOptions& t) {
    return Walk{Recent(t.entries, t.page),
                std::vector<Femtoseconds>(std::max<std::uint32_t>(1, t.walkers))};
  };
  if (options.requester) node.asks_ahead = walk(options.requester->translation);
  if (options.forward) node.comes_in = walk(options.forward->translation);
  if (options.memory) {
    if (options.memory->dram) node.dram = std::make_unique<DramPort>(*options.memory->dram);
    node.cache = Recent(options.memory->cache_lines, Bytes{64});
  }
  nodes_.push_back(std::move(node));
  return static_cast<NodeId>(nodes_.size() - 1);
}

LinkId Network::connect(NodeId from, NodeId to, const LinkOptions& options) {
  ensure(!routed_, "link: a link added to a network in use");
  const auto link = static_cast<LinkId>(links_.size());
  links_.push_back({});
  links_.back().options = options;
  links_.back().rate = options.rate;
  links_.back().errors_key = mix_bits(seed_ + 0x9E3779B97F4A7C15U * (link + 1));
  for (const bool back : {false, true}) {
    Direction d;
    d.link = link;
    d.from = back ? to : from;
    d.to = back ? from : to;
    d.skip_due = options.skip_interval;
    for (std::size_t k = 0; k < kKinds; ++k) {
      d.headers[k] = options.credits[k].headers;
      d.data[k] = options.credits[k].data;
    }
    directions_.push_back(std::move(d));
  }
  Direction &there = directions_[2 * link], &back = directions_[2 * link + 1];
  there.from_port = back.to_port = static_cast<std::uint32_t>(nodes_[from].ports.size());
  nodes_[from].ports.push_back(2 * link);
  back.from_port = there.to_port = static_cast<std::uint32_t>(nodes_[to].ports.size());
  nodes_[to].ports.push_back(2 * link + 1);
  return link;
}

/// Fewest links, through nodes that pass on; all ways of equal length.
void Network::find_routes() {
  if (routed_) return;
  routed_ = true;
  for (Direction& d : directions_) {
    d.queues.resize(nodes_[d.from].ports.size() + 1);
    d.queued.resize(d.queues.size());
  }
  for (Node& node : nodes_)
    node.routes.resize(nodes_.size());
  std::vector<std::uint32_t> distance;
  for (NodeId target = 0; target < nodes_.size(); ++target) {
    distance.assign(nodes_.size(), UINT32_MAX);
    distance[target] = 0;
    std::vector<NodeId> reached{target};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const NodeId at = reached[i];
      if (at != target && !nodes_[at].options.forward) continue;
      for (const DirectionId out : nodes_[at].ports) {
        const NodeId next = directions_[out].to;
        if (distance[next] != UINT32_MAX) continue;
        distance[next] = distance[at] + 1;
        reached.push_back(next);
      }
    }
    for (NodeId at = 0; at < nodes_.size(); ++at)
      for (const DirectionId out : nodes_[at].ports) {
        const NodeId next = directions_[out].to;
        if (at == target || distance[next] == UINT32_MAX || distance[next] >= distance[at])
          continue;
        if (next == target || nodes_[next].options.forward)
          nodes_[at].routes[target].push_back(out);
      }
  }
}

/// The effects of one event on requesters and wires, and theirs on one another.
void Network::settle() {
  while (!to_pump_.empty() || !to_issue_.empty()) {
    for (std::size_t i = 0; i < to_issue_.size(); ++i) // more may be added
      issue(to_issue_[i]);
    to_issue_.clear();
    for (std::size_t i = 0; i < to_pump_.size(); ++i) {
      directions_[to_pump_[i]].kicked = false;
      if (!directions_[to_pump_[i]].wake_set) pump(to_pump_[i]);
    }
    to_pump_.clear();
  }
}

void Network::run(Femtoseconds until, bool to_finish) {
  find_routes();
  settle();
  while (events_.next() <= until) {
    if (to_finish && !finished_.empty() && events_.next() > now_) return;
    const Event event = events_.pop();
    now_ = event.at;
    ++events_done_;
    happen(event);
    settle();
  }
  if (until < kNever && !(to_finish && !finished_.empty())) now_ = std::max(now_, until);
}

void Network::happen(const Event& event) {
  const auto with = static_cast<std::uint32_t>(event.with);
  switch (static_cast<What>(event.kind)) {
  case wake_up:
    directions_[event.part].wake_set = false;
    kick(event.part);
    break;
  case landed:
    owe_ack(event.part, event.with >> 32);
    arrived(event.part, with, packets_[with].ready);
    break;
  case flit_landed:
    flit_arrived(event.part, with);
    break;
  case queued:
    pass_on(event.part, with);
    break;
  case control_landed:
    take_control(event.part, with);
    break;
  case control_due:
    time_out(event.part);
    break;
  case error_seen:
    error_at(event.part);
    break;
  case train:
    begin_training(event.part, links_[event.part].next_rates[with]);
    break;
  case issue_at:
    if (nodes_[event.part].issue_set == now_) nodes_[event.part].issue_set = kNever;
    to_issue_.push_back(event.part);
    break;
  case served:
    end_service(event.part, with);
    break;
  case media_at:
    play_media(event.part);
    break;
  }
}

DirectionStatistics Network::statistics(DirectionId direction) const {
  const Direction& d = directions_[direction];
  DirectionStatistics s = d.statistics;
  if (d.blocked_from != kNever) (d.for_buffer ? s.no_buffer : s.no_credit) += now_ - d.blocked_from;
  return s;
}

void Network::prove_idle() const {
  const auto expect = [](bool holds, const std::string& what) {
    if (!holds) throw InvariantError("link: " + what);
  };
  for (DirectionId i = 0; i < directions_.size(); ++i) {
    const Direction& d = directions_[i];
    const LinkOptions& options = links_[d.link].options;
    const std::string name = fmt::format("{}.{}: ", options.name, i % 2 == 0 ? "tx" : "rx");
    const DirectionStatistics& s = d.statistics;
    expect(s.payload_in == s.payload_out && s.packets_in == s.packets_out,
           name + fmt::format("{} B in {} packets went in, {} B in {} came out", s.payload_in,
                              s.packets_in, s.payload_out, s.packets_out));
    expect(d.waiting == 0 && d.chunks == 0 && d.replay.empty() && d.split.empty() && !d.doomed,
           name + "something is left in it");
    expect(d.unacknowledged == 0, name + "not all is acknowledged");
    for (std::size_t k = 0; k < kKinds; ++k)
      expect(d.headers[k] == options.credits[k].headers && d.data[k] == options.credits[k].data,
             name + fmt::format("credits have not come back: {} has {} and {}",
                                name_of(static_cast<Kind>(k)), d.headers[k], d.data[k]));
  }
  for (const Node& node : nodes_)
    for (const Stream& stream : node.streams)
      expect(stream.jobs.empty() && stream.in_flight == 0 &&
                 stream.statistics.bytes_asked == stream.statistics.bytes_done,
             node.options.name + ": transactions are not finished");
  expect(packets_.in_use() == 0 && works_.in_use() == 0 && jobs_.in_use() == 0 &&
             services_.in_use() == 0 && controls_.in_use() == 0,
         "records are left over");
}

} // namespace umf::hw::link
