#pragma once

#include "hw/link/dram_port.h"
#include "hw/link/event_queue.h"
#include "hw/link/packet.h"
#include "hw/link/recent.h"
#include "hw/link/statistics.h"

#include <memory>
#include <vector>

namespace umf::hw::link {

using NodeId = std::uint32_t;
using LinkId = std::uint32_t;
/// 2 × link: from the first node named to the second; one more: back.
using DirectionId = std::uint32_t;

/// A transaction asked of a node with RequesterOptions.
struct Request {
  NodeId from = 0, to = 0;
  std::uint64_t address = 0;
  std::uint32_t bytes = 64;
  bool write = false;
  std::uint64_t tag = 0; ///< the asker's own
};

/// Reads: all data are at the requester. Writes: all data are at the memory or, where writes are
/// answered, all answers at the requester.
struct Finished {
  std::uint64_t tag;
  NodeId from;
  bool write;
  std::uint32_t bytes;
  Femtoseconds asked, begun, done; ///< begun: its first packet was queued for the wire
};

/// Requesters, switches, root complexes and memories joined by links, packet by packet.
///
/// Model: a direction of a link is a serialiser, a flight time and receive buffers of which the
/// sender holds credits, by kind of traffic. A node keeps what waits for a direction by where it
/// came from and kind; an arbiter takes the oldest that has credits and that the ordering rules let
/// go (PCIe base specification, table "Ordering rules summary"), source by source. Credits come
/// back when a packet leaves the buffer, ACKs when it has arrived, both as control packets that
/// take wire time of the other direction (or ride in flits). A packet or flit that arrives with an
/// error is not acknowledged: it and all sent after it are sent again once the NAK is there. Event
/// by event, time in femtoseconds, errors drawn by (seed, link, number of the transmission).
class Network {
public:
  explicit Network(std::uint64_t seed = 0) : seed_(seed) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  NodeId add(const NodeOptions& options);
  /// Several links between two nodes share what goes between them by address.
  LinkId connect(NodeId from, NodeId to, const LinkOptions& options);

  void submit(const Request& request);
  /// The link is down for its recovery time from `at`, or from when a packet on it has passed, and
  /// runs at `rate` afterwards.
  void retrain(LinkId link, Femtoseconds at, const WireRate& rate);

  Femtoseconds now() const { return now_; }
  /// kNever: nothing is left to happen.
  Femtoseconds next() const {
    return to_issue_.empty() && to_pump_.empty() ? events_.next() : now_;
  }
  /// Lets everything happen up to and including `until`.
  void advance(Femtoseconds until) { run(until, false); }
  /// The same, but no further than the instant in which something finishes.
  void advance_to_finish(Femtoseconds until) { run(until, true); }
  /// What has finished, in order; the reader empties it.
  std::vector<Finished>& finished() { return finished_; }

  std::size_t links() const { return directions_.size() / 2; }
  std::size_t nodes() const { return nodes_.size(); }
  const LinkOptions& options(LinkId link) const { return links_[link].options; }
  /// With what has happened up to now.
  DirectionStatistics statistics(DirectionId direction) const;
  const RequesterStatistics& requester(NodeId node, bool write) const {
    return nodes_[node].streams[write].statistics;
  }
  const MemoryStatistics& memory(NodeId node) const { return nodes_[node].memory_statistics; }
  const ForwardStatistics& forwarded(NodeId node) const { return nodes_[node].forward_statistics; }
  std::uint64_t packets() const { return packets_sent_; } ///< over all links
  std::uint64_t events() const { return events_done_; }

  /// Once nothing is left to happen: throws InvariantError unless every byte that went into a link
  /// came out of it, every credit is back, every buffer empty and every transaction finished.
  void prove_idle() const;

private:
  enum What : std::uint32_t {
    wake_up,
    landed,
    flit_landed,
    queued,
    control_landed,
    control_due,
    error_seen,
    train,
    issue_at,
    served,
    media_at,
  };
  struct Owed {
    std::uint32_t headers = 0, data = 0;
  };
  /// What one end tells the other of the direction towards itself.
  struct Control {
    std::uint32_t next = kNone;
    std::uint64_t bytes = 0; ///< acknowledged
    std::array<Owed, kKinds> credit{};
    bool nak = false;
  };
  struct Flit {
    std::uint32_t next = kNone;
    Queue messages; ///< that end in it
    std::uint32_t control = kNone;
    std::uint32_t chunks = 0, bytes = 0, acknowledged = 0;
  };
  struct Direction {
    LinkId link = 0;
    NodeId from = 0, to = 0;
    std::uint32_t from_port = 0, to_port = 0;
    bool wake_set = false, kicked = false, control_timer = false;
    // What waits, by source (0: the node itself, then its ports) and kind.
    std::vector<std::array<Queue, kKinds>> queues;
    std::vector<std::uint32_t> queued; ///< by source
    std::uint32_t waiting = 0;
    std::uint32_t turn = 0;
    std::int64_t budget = 0; ///< bytes left of the turn
    // The wire.
    Femtoseconds busy_until{}, skip_due{};
    std::array<std::int64_t, kKinds> headers{}, data{}; ///< credits
    std::uint64_t unacknowledged = 0, sent = 0;
    bool doomed = false; ///< what is sent now will be sent again
    bool held = false;   ///< and nothing is, until the NAK
    Queue replay;        ///< packets or flits
    Queue split;         ///< messages whose chunks are being sent
    std::uint32_t chunks = 0;
    // What it must tell about the other direction.
    std::uint64_t owed_bytes = 0;
    std::uint32_t owed_acks = 0;
    std::array<Owed, kKinds> owed{};
    bool ack_due = false, nak_due = false;
    std::array<bool, kKinds> update_due{};
    bool any_due = false;
    // Why it waits.
    Femtoseconds blocked_from = kNever;
    bool for_buffer = false;
    /// Requests and data that come in here are handed on in order.
    std::array<Femtoseconds, kKinds> floor{};
    DirectionStatistics statistics;
  };
  struct Link {
    LinkOptions options;
    WireRate rate;
    std::uint64_t errors_key = 0;
    Femtoseconds active{}; ///< last
    Femtoseconds errors_from{};
    std::uint32_t errors = 0;
    bool degraded = false;
    std::vector<WireRate> next_rates; ///< by number of the training event
  };
  struct Job {
    std::uint64_t address = 0, tag = 0, number = 0;
    std::uint32_t next = kNone, bytes = 0, sent = 0, left = 0;
    std::uint32_t service = kNone; ///< it is done for
    std::uint16_t to = 0;
    bool write = false;
    Femtoseconds asked{}, begun{}, ready{};
  };
  struct Work {
    std::uint32_t job = kNone, left = 0;
  };
  struct Stream {
    Queue jobs;
    std::uint32_t in_flight = 0; ///< tags
    Femtoseconds next_start{}, waits_from{};
    Wait waits = Wait::nothing;
    RequesterStatistics statistics;
  };
  struct Service {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0, work = kNone, left = 0;
    std::uint16_t from = 0;
    bool write = false, answered = false;
  };
  struct Walk {
    Recent held;
    std::vector<Femtoseconds> walkers;
  };
  struct Node {
    NodeOptions options;
    std::vector<DirectionId> ports;               ///< outward
    std::vector<std::vector<DirectionId>> routes; ///< by destination
    std::array<Stream, 2> streams;
    Femtoseconds issue_set = kNever;
    Walk asks_ahead, comes_in;
    std::array<Queue, 2> waiting; ///< packets for the memory: reads, writes
    std::array<std::uint32_t, 2> in_service{};
    Femtoseconds media_free{}, peer_free{};
    std::unique_ptr<DramPort> dram;
    Femtoseconds media_set = kNever;
    Recent cache;
    MemoryStatistics memory_statistics;
    ForwardStatistics forward_statistics;
  };

  Direction& reverse(DirectionId direction) { return directions_[direction ^ 1]; }
  static std::uint32_t id(const std::vector<Direction>& all, const Direction& one) {
    return static_cast<std::uint32_t>(&one - all.data());
  }
  void run(Femtoseconds until, bool to_finish);
  void settle();
  void happen(const Event& event);
  void find_routes();

  // transmit.cpp: one direction of a link
  void enqueue(DirectionId direction, std::uint32_t source, std::uint32_t packet);
  void kick(DirectionId direction);
  void pump(DirectionId direction);
  bool has_work(const Direction& d) const;
  bool sleeping(Direction& d);
  std::uint32_t choose(Direction& d, unsigned kinds);
  std::uint32_t candidate(const Direction& d, std::uint32_t source, unsigned kinds,
                          bool& no_credit) const;
  void take(Direction& d, std::uint32_t source, std::uint32_t packet);
  std::uint64_t weight_of(const Direction& d, std::uint32_t source) const;
  void blocked(Direction& d, bool for_buffer);
  void unblocked(Direction& d);
  bool send_packet(DirectionId direction);
  Femtoseconds occupy(Direction& d, std::uint64_t bytes); ///< returns when it begins
  bool corrupted(Direction& d, std::uint64_t bytes);
  template <class T>
  void doom(DirectionId direction, Queue& replay, Pool<T>& pool, std::uint32_t sent);
  void land(DirectionId direction, std::uint32_t packet, Femtoseconds begin, std::uint64_t bytes);
  void set_wake(DirectionId direction);

  // control.cpp: acknowledgements, credits, errors, training
  void owe_ack(DirectionId towards, std::uint64_t bytes);
  void owe_credit(DirectionId towards, Kind kind, std::uint32_t data);
  void owe(DirectionId by, bool& due, bool now);
  void set_timer(DirectionId by);
  void time_out(DirectionId by);
  bool send_control(DirectionId direction);
  std::uint32_t make_control(Direction& d, bool all, std::uint32_t most);
  void take_control(DirectionId direction, std::uint32_t control);
  void error_at(DirectionId direction);
  void begin_training(LinkId link, const WireRate& rate);

  // flits.cpp
  bool send_flit(DirectionId direction);
  bool fill(Direction& d, Flit& flit);
  bool fill_header(Direction& d, Flit& flit, bool first);
  void message(Direction& d, Flit& flit, std::uint32_t packet);
  void flit_arrived(DirectionId direction, std::uint32_t flit);

  // forward.cpp
  DirectionId route(NodeId at, const Packet& packet, std::uint32_t came_by) const;
  void arrived(DirectionId direction, std::uint32_t packet, Femtoseconds ready);
  void pass_on(DirectionId direction, std::uint32_t packet);
  Femtoseconds translate(Walk& walk, const TranslationOptions& options, std::uint64_t address,
                         Femtoseconds at, std::uint64_t& asked, std::uint64_t& missed);
  void deliver(NodeId node, std::uint32_t packet);

  // requester.cpp
  void start(NodeId node, std::uint32_t job);
  void issue(NodeId node);
  bool issue_one(NodeId node, bool write);
  void waits(Stream& stream, Wait why);
  void issue_by(NodeId node, Femtoseconds at);
  void answered(NodeId node, const Packet& packet);
  void progress(NodeId node, std::uint32_t work, std::uint32_t bytes);

  // serve.cpp
  void serve(NodeId node, bool write);
  void begin_service(NodeId node, std::uint32_t packet);
  void play_media(NodeId node);
  void end_service(NodeId node, std::uint32_t service);
  void leave_service(NodeId node, std::uint32_t service);
  void free_buffer(const Packet& packet);

  std::uint64_t seed_;
  Femtoseconds now_{};
  EventQueue events_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<Direction> directions_;
  std::vector<DirectionId> to_pump_;
  std::vector<NodeId> to_issue_;
  Pool<Packet> packets_;
  Pool<Flit> flits_;
  Pool<Control> controls_;
  Pool<Job> jobs_;
  Pool<Work> works_;
  Pool<Service> services_;
  std::vector<Finished> finished_;
  std::uint64_t order_ = 0, packets_sent_ = 0, events_done_ = 0, jobs_asked_ = 0;
  bool routed_ = false;
};

/// What has just been sent will be sent again, once the NAK is there: the first that has an error
/// and all behind it.
template <class T>
void Network::doom(DirectionId direction, Queue& replay, Pool<T>& pool, std::uint32_t sent) {
  Direction& d = directions_[direction];
  if (d.doomed) return replay.push(pool, sent);
  ++d.statistics.errors;
  d.doomed = true;
  const Queue rest = replay; // an error in what is being sent again: the rest waits behind it
  d.held = !rest.empty();
  replay = {};
  replay.push(pool, sent);
  if (d.held) {
    pool[sent].next = rest.head;
    replay.tail = rest.tail;
    replay.size += rest.size;
  }
  events_.push(d.busy_until + links_[d.link].options.latency, error_seen, direction);
}

} // namespace umf::hw::link
