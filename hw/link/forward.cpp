#include "hw/link/network.h"

#include "model/base/error.h"

#include <algorithm>

/// What becomes of packets at a node: passed on, or taken in.
namespace umf::hw::link {

DirectionId Network::route(NodeId at, const Packet& packet, std::uint32_t came_by) const {
  const Node& node = nodes_[at];
  const auto& ways = node.routes[packet.to];
  ensure(!ways.empty(), "link: no way to the node");
  const std::uint64_t grain =
      node.options.requester ? node.options.requester->interleave.count : 4096;
  const DirectionId way =
      ways.size() == 1 ? ways.front() : ways[packet.address / grain % ways.size()];
  if (came_by == kNone || !node.options.forward || !node.options.forward->redirect) return way;
  // ACS: from one lower port to another by way of the first port, which leads to the root.
  const DirectionId up = node.ports.front();
  return (came_by ^ 1) == up || packet.redirected ? way : up;
}

/// Whole packets: their ACK is owed. Those to be passed on are queued once they are `ready`.
void Network::arrived(DirectionId direction, std::uint32_t index, Femtoseconds ready) {
  Direction& d = directions_[direction];
  Packet& packet = packets_[index];
  ++d.statistics.packets_out;
  d.statistics.payload_out += packet.payload;
  packet.came_by = direction;
  Node& node = nodes_[d.to];
  const bool here = packet.to == d.to;
  ensure(here || node.options.forward, "link: a packet has come to the wrong node");
  if (node.options.forward) {
    const ForwardOptions& forward = *node.options.forward;
    const bool asks = packet.kind == Kind::posted || packet.kind == Kind::request;
    if (asks && forward.translation.entries > 0)
      ready = translate(node.comes_in, forward.translation, packet.address, ready,
                        node.forward_statistics.translations,
                        node.forward_statistics.translation_misses);
    if (!here && forward.peer_rate && packet.payload > 0) {
      node.peer_free =
          std::max(node.peer_free, ready) + WireRate::of(*forward.peer_rate).time(packet.payload);
      ready = node.peer_free;
      node.forward_statistics.peer_bytes += packet.payload;
    }
    // What holds one up holds up those behind it, and nothing overtakes a posted write here.
    const std::size_t k = link::index(packet.kind);
    ready = std::max({ready, d.floor[k], d.floor[link::index(Kind::posted)]});
    d.floor[k] = ready;
  }
  if (ready > now_)
    events_.push(ready, queued, direction, index);
  else
    pass_on(direction, index);
}

void Network::pass_on(DirectionId direction, std::uint32_t index) {
  const Direction& d = directions_[direction];
  Packet& packet = packets_[index];
  if (packet.to == d.to) return deliver(d.to, index);
  Node& node = nodes_[d.to];
  const DirectionId out = route(d.to, packet, direction);
  ++node.forward_statistics.packets;
  const auto& ways = node.routes[packet.to];
  if (std::find(ways.begin(), ways.end(), out) == ways.end()) {
    packet.redirected = true;
    ++node.forward_statistics.redirected;
  }
  enqueue(out, d.to_port + 1, index);
}

/// When the address is translated: at once, after a hit, or after a walk that waits for a walker.
Femtoseconds Network::translate(Walk& walk, const TranslationOptions& options,
                                std::uint64_t address, Femtoseconds at, std::uint64_t& asked,
                                std::uint64_t& missed) {
  ++asked;
  if (walk.held.touch(address)) return at + options.hit;
  ++missed;
  auto walker = std::min_element(walk.walkers.begin(), walk.walkers.end());
  *walker = std::max(*walker, at) + options.miss;
  return *walker;
}

/// A packet has come to where it goes.
void Network::deliver(NodeId at, std::uint32_t index) {
  Packet& packet = packets_[index];
  Node& node = nodes_[at];
  if (packet.kind == Kind::completion || packet.kind == Kind::response) {
    free_buffer(packet);
    answered(at, packet);
    packets_.free(index);
    return;
  }
  ensure(node.options.memory.has_value(), "link: a request to a node without memory");
  const bool write = packet.kind == Kind::posted;
  if (node.in_service[write] >= node.options.memory->queue) ++node.memory_statistics.queued;
  node.waiting[write].push(packets_, index);
  serve(at, write);
}

void Network::free_buffer(const Packet& packet) {
  if (packet.came_by != kNone) owe_credit(packet.came_by, packet.kind, packet.data_units());
}

} // namespace umf::hw::link
