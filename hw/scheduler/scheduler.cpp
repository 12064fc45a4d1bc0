#include "hw/scheduler/scheduler.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::hw {

using memory::PageState;

namespace {
/// Below the regions of the unified space lie system physical addresses (copy engines).
constexpr std::uint64_t kFirstUnified = std::uint64_t{1} << 56;
} // namespace

Scheduler::Scheduler(sc_core::sc_module_name module, FlowClock& clock, PayloadPool& pool,
                     const SchedulerConfig& config, scheduler::Brain& brain, std::uint32_t gpu)
    : sc_core::sc_module(module), clock_(clock), pool_(pool), config_(config), brain_(brain),
      gpu_(gpu), page_(config.page.count), tlb_(config.tlb_entries, 0) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".scheduler.";
  lookups_ = clock.add_resource(prefix + "lookups", config.lookup_rate.value, Cause::scheduler);
  // Walks as seconds of walker time.
  walkers_ = clock.add_resource(prefix + "walkers", config.walkers, Cause::translation);
  engine_ = clock.add_resource(prefix + "engine", config.packing_rate.value, Cause::scheduler);
  reads.register_nb_transport_fw(this, &Scheduler::fw_reads);
  writes.register_nb_transport_fw(this, &Scheduler::fw_writes);
  ports.register_nb_transport_bw(this, &Scheduler::bw_ports);
  const auto on = [this](sc_core::sc_event& event, const char* name, void (Scheduler::*act)()) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    sc_core::sc_spawn([this, act] { clock_.guard([this, act] { (this->*act)(); }); }, name,
                      &options);
  };
  on(early_event_, "early", &Scheduler::take_early);
  on(copies_due_, "copies", &Scheduler::take_copies);
  on(faults_due_, "faults", &Scheduler::handle_faults);
  on(drained_event_, "drained", &Scheduler::finish_drained_moves);
  on(issued_event_, "issued", &Scheduler::finish_drained_moves);
}

void Scheduler::set_route(std::uint16_t tier, std::size_t port) {
  if (tier >= port_of_tier_.size()) port_of_tier_.resize(tier + 1u, SIZE_MAX);
  port_of_tier_[tier] = port;
  if (port >= port_queues_.size()) port_queues_.resize(port + 1);
}

template <class T>
std::uint32_t Scheduler::take(std::vector<T>& slots, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    slots.emplace_back();
    return static_cast<std::uint32_t>(slots.size() - 1);
  }
  const std::uint32_t id = free.back();
  free.pop_back();
  slots[id] = {};
  return id;
}

tlm::tlm_sync_enum Scheduler::fw_reads(int id, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time&) {
  return accept(id, false, payload, phase);
}

tlm::tlm_sync_enum Scheduler::fw_writes(int id, Payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time&) {
  return accept(id, true, payload, phase);
}

/// With the queue full the request is held back (no END_REQ), which by the base protocol
/// keeps the asker from sending the next one on that socket.
tlm::tlm_sync_enum Scheduler::accept(int id, bool write, Payload& payload, tlm::tlm_phase& phase) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
  payload.acquire();
  if (parked_[write].size() >= config_.queue_depth) {
    held_[write].emplace_back(id, &payload);
    return tlm::TLM_ACCEPTED;
  }
  sense();
  begin(id, write, payload);
  pump_faults();
  pump_commands();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Scheduler::begin(int upstream, bool write, Payload& payload) {
  const std::uint32_t request = take(requests_, free_requests_);
  requests_[request].payload = &payload;
  requests_[request].write = write;
  requests_[request].upstream = upstream;
  burst_of(payload).request = request;
  cut(request);
}

void Scheduler::cut(std::uint32_t request) {
  Payload& payload = *requests_[request].payload;
  const Burst& burst = burst_of(payload);
  const std::uint64_t begin = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  const bool write = requests_[request].write;
  const bool copy = burst.purpose == Purpose::copy;
  auto& taken = write ? (copy ? statistics_.copy_bytes_written : statistics_.write_backs)
                      : (copy ? statistics_.copy_bytes_read : statistics_.demand_fills);

  if (begin < kFirstUnified) {
    taken += length;
    const std::uint32_t piece = add_piece(request, begin, length);
    dispatch(piece, {0, 0, tier_of(begin), PageState::resident, 0});
    return;
  }
  resolve(payload, burst);
  // Pieces exist before any is sent: an answer may come at once.
  std::vector<std::pair<std::uint32_t, memory::PageRun>> todo;
  for (const auto& run : runs_) {
    const std::uint64_t from = std::max(begin, run.first * page_);
    const std::uint64_t to = std::min(begin + length, (run.first + run.count) * page_);
    const std::uint32_t piece = add_piece(request, from, to - from);
    pieces_[piece].first_page = run.first;
    pieces_[piece].pages = run.count;
    (run.state == PageState::deferred ? statistics_.dead_writes : taken) += to - from;
    todo.emplace_back(piece, run);
  }
  for (const auto& [piece, run] : todo)
    dispatch(piece, run);
}

/// Finds the runs behind a request. Accesses lie within one tensor; a write-back may span
/// neighbours, and may come when the tensor is gone: those pages stay deferred.
void Scheduler::resolve(const Payload& payload, const Burst& burst) {
  const std::uint64_t begin = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  runs_.clear();
  if (burst.purpose != Purpose::write_back) {
    brain_.touch(begin, {length}, payload.is_write(), sim_now(), runs_, burst.step);
    return;
  }
  mapped_.clear();
  brain_.look(begin, {length}, mapped_);
  for (const auto& run : mapped_) {
    if (run.state == PageState::deferred) {
      runs_.push_back(run);
      continue;
    }
    const std::uint64_t end = std::min(begin + length, (run.first + run.count) * page_);
    for (std::uint64_t at = std::max(begin, run.first * page_); at < end;) {
      const auto* tensor = brain_.space().holder(at);
      ensure(tensor != nullptr, "scheduler: page without a tensor");
      const std::uint64_t stop = std::min(end, tensor->base + tensor->pages * page_);
      brain_.touch(at, {stop - at}, true, sim_now(), runs_, burst.step);
      at = stop;
    }
  }
}

std::uint32_t Scheduler::add_piece(std::uint32_t request, std::uint64_t address,
                                   std::uint64_t length) {
  const std::uint32_t id = take(pieces_, free_pieces_);
  Piece& piece = pieces_[id];
  piece.request = request;
  piece.address = address;
  piece.length = length;
  Request& owner = requests_[request];
  ++owner.open;
  (owner.first_piece == kNoId ? owner.first_piece : pieces_[owner.last_piece].next) = id;
  owner.last_piece = id;
  return id;
}

/// Sends a piece on its way, or parks it.
void Scheduler::dispatch(std::uint32_t id, const memory::PageRun& run) {
  Piece& piece = pieces_[id];
  const Request& request = requests_[piece.request];
  if (run.state == PageState::deferred) {
    if (piece.parked) { // its tensor has died while it waited
      statistics_.write_backs -= piece.length;
      statistics_.dead_writes += piece.length;
    }
    piece.parked = false;
    return postpone({nullptr, id, sim_now()});
  }
  piece.in_sync = run.state == PageState::syncing;
  const bool waits = piece.in_sync || run.state == PageState::suspended ||
                     (request.write && run.state == PageState::moving);
  if (waits) {
    if (!piece.parked) ++statistics_.parked;
    piece.parked = true;
    hurry(piece);
    parked_[request.write].push_back(id);
    return;
  }
  const bool physical = piece.address < kFirstUnified;
  const Side side = physical ? Side{piece.address, piece.length}
                             : side_of(run.tier, run.frame, run.packed,
                                       piece.address - run.first * page_, piece.length);
  Payload& sub = pool_.acquire(request.write, side.address, {side.bytes});
  Burst& burst = burst_of(sub);
  burst = burst_of(*request.payload);
  if (piece.length < request.payload->get_data_length()) // what lies beside it is elsewhere
    burst.row.bytes = std::min(burst.row.bytes, static_cast<double>(piece.length));
  burst.energy = {}; // what other pieces of the request have cost stays with it
  burst.token = id;
  burst.tier = run.tier;
  piece.payload = &sub;
  piece.parked = false;
  if (!physical) {
    note_torn(piece, request.write, run.tier);
    translate(burst, piece.first_page, piece.pages, piece.length);
    if (run.packed > 0) pass_engine(burst, request.write, side.bytes, piece.length);
  }
  send(sub, run.tier);
}

/// Packed pages lie one behind the other, and of each the bytes in proportion.
Scheduler::Side Scheduler::side_of(std::uint16_t tier, std::uint64_t frame, std::uint32_t packed,
                                   std::uint64_t from, std::uint64_t bytes) const {
  if (packed == 0) return {physical_address(tier, frame * page_ + from), bytes};
  const std::uint64_t begin = from * packed / page_;
  const std::uint64_t end = ((from + bytes) * packed + page_ - 1) / page_;
  return {physical_address(tier, frame + begin), end - begin};
}

/// Packs what is written, unpacks what is read, at a rate of plain bytes.
void Scheduler::pass_engine(Burst& burst, bool write, std::uint64_t packed, std::uint64_t plain) {
  const double times = static_cast<double>(plain) / static_cast<double>(packed);
  burst.stand_for(times);
  burst.add_hop(engine_, times);
  (write ? statistics_.saved_written : statistics_.saved_read) += plain - packed;
  if (!write && burst.purpose != Purpose::migration) statistics_.packed_read += plain;
}

void Scheduler::send(Payload& payload, std::uint16_t tier) {
  ensure(tier < port_of_tier_.size() && port_of_tier_[tier] != SIZE_MAX,
         "scheduler: no port leads to the tier");
  send_by(port_of_tier_[tier], payload);
}

void Scheduler::send_by(std::size_t port, Payload& payload) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  sending_ = true;
  const bool answered =
      port_queues_[port].send(*ports[static_cast<unsigned>(port)], payload, delay);
  sending_ = false;
  if (answered) postpone({&payload, kNoId, sim_now() + from_sc(delay)});
}

void Scheduler::pump_port(std::size_t port) {
  while (Payload* payload = port_queues_[port].next())
    send_by(port, *payload);
}

/// An answer must not overtake the END_REQ of the request it belongs to.
void Scheduler::postpone(Early answer) {
  early_.push_back(answer);
  early_event_.notify(sc_core::SC_ZERO_TIME);
}

void Scheduler::take_early() {
  if (before_change_) before_change_();
  while (!early_.empty()) {
    const Early answer = early_.front();
    early_.pop_front();
    if (answer.payload != nullptr)
      take_answer(*answer.payload, answer.at);
    else
      answered(answer.piece, answer.at);
  }
}

/// A move too waits for what its path and its memory take, not for bandwidth alone.
void Scheduler::take_copies() {
  if (before_change_) before_change_();
  while (!copies_.empty() && copies_.next() <= sim_now()) {
    Payload* payload = copies_.take();
    copy_answered(*payload);
    payload->release();
  }
  if (!copies_.empty()) copies_due_.notify(to_sc(copies_.next() - sim_now()));
}

/// Lookups take slots of the lookup pipeline; TLB misses take walker time. A burst's first
/// byte waits for its share of walks, the rest overlaps with the transfer.
void Scheduler::translate(Burst& burst, memory::PageNumber first, std::uint64_t pages,
                          std::uint64_t bytes) {
  std::uint64_t hits = 0;
  for (std::uint64_t at = first; at < first + pages;) {
    const std::uint64_t end = std::min(first + pages, at + tlb_.capacity());
    tlb_.access({at, end}, false, tlb_outcome_);
    hits += tlb_outcome_.hit;
    at = end;
  }
  statistics_.translations += pages;
  statistics_.tlb_hits += hits;
  const auto length = static_cast<double>(bytes);
  burst.add_hop(lookups_, 1.0 / static_cast<double>(config_.request.count));
  burst.add_latency(Cause::scheduler, config_.lookup_latency);
  const std::uint64_t misses = pages - hits;
  if (misses == 0 || config_.walk_latency.count == 0) return;
  burst.add_hop(walkers_, static_cast<double>(misses) * config_.walk_latency.seconds() / length);
  burst.add_latency(Cause::translation,
                    {config_.walk_latency.count * static_cast<std::int64_t>(misses) /
                     static_cast<std::int64_t>(pages)});
}

tlm::tlm_sync_enum Scheduler::bw_ports(int id, Payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) {
  const auto port = static_cast<std::size_t>(id);
  const tlm::tlm_phase told = phase;
  const Femtoseconds at = sim_now() + from_sc(delay);
  // A foreign target calls from a process of its own.
  clock_.guard([&] {
    ensure(told == tlm::END_REQ || told == tlm::BEGIN_RESP,
           "scheduler: unexpected phase on the way back");
    port_queues_[port].taken(payload);
    if (told == tlm::BEGIN_RESP) {
      if (sending_) return postpone({&payload, kNoId, at});
      if (before_change_) before_change_();
      take_answer(payload, at);
    }
    if (!sending_) pump_port(port);
  });
  return told == tlm::END_REQ ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
}

void Scheduler::take_answer(Payload& payload, Femtoseconds at) {
  ensure(payload.is_response_ok(), "scheduler: a tier answered with an error");
  const std::uint64_t token = burst_of(payload).token;
  if (token & kMigration) {
    statistics_.migration_energy += burst_of(payload).energy;
    copies_.at(at, &payload);
    copies_due_.cancel();
    copies_due_.notify(to_sc(copies_.next() - sim_now()));
    return;
  }
  const auto piece = static_cast<std::uint32_t>(token);
  pieces_[piece].payload = nullptr;
  if (payload.is_write() && in_pool(burst_of(payload).tier, pieces_[piece])) --pool_writes_;
  // The asker learns which parts of the path its last bytes are still travelling, and the cost.
  Burst& asked = burst_of(*requests_[pieces_[piece].request].payload);
  asked.latency = burst_of(payload).latency;
  asked.energy += burst_of(payload).energy;
  payload.release();
  answered(piece, at);
}

void Scheduler::answered(std::uint32_t id, Femtoseconds at) {
  Piece& piece = pieces_[id];
  piece.answered = true;
  Request& request = requests_[piece.request];
  request.done_at = std::max(request.done_at, at.count);
  if (--request.open > 0) {
    finish_drained_moves();
    return;
  }
  const std::uint32_t owner = piece.request;
  for (std::uint32_t p = request.first_piece; p != kNoId;) {
    const std::uint32_t next = pieces_[p].next;
    free_pieces_.push_back(p);
    pieces_[p].request = kNoId;
    p = next;
  }
  const Request done = request;
  burst_of(*done.payload).request = kNoId;
  free_requests_.push_back(owner);
  finish_drained_moves();
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = to_sc(Femtoseconds{done.done_at} - sim_now());
  done.payload->set_response_status(tlm::TLM_OK_RESPONSE);
  auto& socket = done.write ? writes : reads;
  socket[static_cast<unsigned>(done.upstream)]->nb_transport_bw(*done.payload, phase, delay);
  done.payload->release();
}

void Scheduler::retry_parked() {
  for (const bool write : {true, false}) {
    std::deque<std::uint32_t> waiting;
    waiting.swap(parked_[write]);
    for (const std::uint32_t id : waiting)
      retry(id);
  }
  for (const bool write : {true, false}) {
    while (!held_[write].empty() && parked_[write].size() < config_.queue_depth) {
      const auto [upstream, payload] = held_[write].front();
      held_[write].pop_front();
      begin(upstream, write, *payload);
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      auto& socket = write ? writes : reads;
      socket[static_cast<unsigned>(upstream)]->nb_transport_bw(*payload, phase, delay);
    }
  }
  pump_faults();
}

/// Pages may have come to rest in several runs, or where they fault once more: cut again at the
/// new borders.
void Scheduler::retry(std::uint32_t id) {
  std::vector<memory::PageRun> runs;
  const Piece piece = pieces_[id];
  const Request& request = requests_[piece.request];
  brain_.again(piece.address, {piece.length}, request.write, sim_now(), runs,
               burst_of(*request.payload).step);
  const auto end_in = [&](const memory::PageRun& run) {
    return std::min(piece.address + piece.length, (run.first + run.count) * page_);
  };
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const std::uint64_t from = runs[i].first * page_;
    const std::uint32_t extra = add_piece(piece.request, from, end_in(runs[i]) - from);
    pieces_[extra].first_page = runs[i].first;
    pieces_[extra].pages = runs[i].count;
    pieces_[extra].parked = true;
    dispatch(extra, runs[i]);
  }
  pieces_[id].length = end_in(runs[0]) - piece.address;
  pieces_[id].pages = runs[0].count;
  dispatch(id, runs[0]);
}

void Scheduler::explain(const Payload& payload, CauseShares& shares) const {
  const auto add = [&](Cause cause, double share) {
    shares[static_cast<std::size_t>(cause)] += share;
  };
  const auto* own = payload.get_extension<Burst>();
  const auto by_latency = [&](const Burst& burst) {
    for (std::size_t c = 0; c < kCauses; ++c)
      add(static_cast<Cause>(c), static_cast<double>(burst.latency[c]));
  };
  // Not taken: the queue is full of accesses to pages in motion.
  if (own->request == kNoId) return add(Cause::migration, 1.0);
  for (std::uint32_t p = requests_[own->request].first_piece; p != kNoId; p = pieces_[p].next) {
    const Piece& piece = pieces_[p];
    if (piece.answered) continue;
    if (piece.payload == nullptr)
      return add(piece.in_sync ? Cause::coherence : Cause::migration, 1.0);
    const auto* burst = piece.payload->get_extension<Burst>();
    if (burst->flow == kNoId && burst->held_by) return add(*burst->held_by, 1.0);
    if (burst->flow == kNoId) return by_latency(*burst);
    const ResourceId limit = clock_.network().last_bottleneck(burst->flow);
    if (clock_.is_window(limit)) return by_latency(*burst);
    return add(clock_.cause_of(limit), 1.0);
  }
}

} // namespace umf::hw
