#include "hw/link/network.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>

/// Transactions cut into packets, and put together again.
namespace umf::hw::link {

namespace {
constexpr std::uint32_t kAhead = 4; ///< packets of a kind that a requester keeps before the wire
}

void Network::submit(const Request& request) {
  find_routes();
  const std::uint32_t index = jobs_.make();
  Job& job = jobs_[index];
  job.address = request.address;
  job.tag = request.tag;
  job.bytes = job.left = request.bytes;
  job.to = static_cast<std::uint16_t>(request.to);
  job.write = request.write;
  start(request.from, index);
}

void Network::start(NodeId from, std::uint32_t index) {
  Node& node = nodes_[from];
  Job& job = jobs_[index];
  ensure(node.options.requester.has_value(), "link: a transaction of a node that asks for none");
  ensure(job.bytes > 0, "link: a transaction of no bytes");
  const RequesterOptions& options = *node.options.requester;
  Stream& stream = node.streams[job.write];
  job.asked = now_;
  job.number = ++jobs_asked_;
  job.ready = now_ + options.latency;
  if (options.translation.entries > 0)
    job.ready = translate(node.asks_ahead, options.translation, job.address, job.ready,
                          stream.statistics.translations, stream.statistics.translation_misses);
  ++stream.statistics.transactions;
  stream.statistics.bytes_asked += job.bytes;
  stream.jobs.push(jobs_, index);
  to_issue_.push_back(from);
}

void Network::issue(NodeId at) {
  // The older transaction first; reads and writes do not wait for one another.
  const auto asked = [&](bool write) {
    const Queue& jobs = nodes_[at].streams[write].jobs;
    return jobs.empty() ? UINT64_MAX : jobs_[jobs.head].number;
  };
  for (;;) {
    const bool first = asked(true) < asked(false);
    if (!issue_one(at, first) && !issue_one(at, !first)) return;
  }
}

void Network::waits(Stream& stream, Wait why) {
  stream.statistics.waited[static_cast<std::size_t>(stream.waits)] += now_ - stream.waits_from;
  stream.waits = why;
  stream.waits_from = now_;
}

void Network::issue_by(NodeId at, Femtoseconds time) {
  Node& node = nodes_[at];
  if (time >= node.issue_set && node.issue_set > now_) return;
  node.issue_set = time;
  events_.push(time, issue_at, at);
}

/// The next packet of the oldest transaction of this direction; false: it has to wait.
bool Network::issue_one(NodeId at, bool write) {
  Node& node = nodes_[at];
  const RequesterOptions& options = *node.options.requester;
  Stream& stream = node.streams[write];
  if (stream.jobs.empty()) {
    waits(stream, Wait::nothing);
    return false;
  }
  Job& job = jobs_[stream.jobs.head];
  if (job.ready > now_) {
    waits(stream, options.translation.entries > 0 ? Wait::translation : Wait::nothing);
    issue_by(at, job.ready);
    return false;
  }
  const auto& rate = write ? options.write_rate : options.read_rate;
  if (rate && job.sent == 0 && stream.next_start > now_) {
    waits(stream, Wait::rate);
    issue_by(at, stream.next_start);
    return false;
  }
  const std::uint32_t tags = write ? options.write_tags : options.tags;
  if (tags != 0 && stream.in_flight >= tags) {
    waits(stream, Wait::tags);
    return false;
  }
  const std::uint64_t address = job.address + job.sent;
  std::uint32_t bytes =
      std::min(job.bytes - job.sent, write ? options.max_payload : options.max_read_request);
  const auto cut = [&](std::uint64_t boundary) {
    if (boundary == 0) return;
    bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, boundary - address % boundary));
  };
  cut(options.boundary);
  if (write) cut(options.payload_boundary);

  Packet probe;
  probe.address = address;
  probe.to = job.to;
  const DirectionId way = route(at, probe, kNone);
  const Kind kind = write ? Kind::posted : Kind::request;
  if (directions_[way].queues[0][index(kind)].size >= kAhead) {
    waits(stream, Wait::link);
    return false;
  }
  waits(stream, Wait::nothing);
  if (job.sent == 0) {
    job.begun = now_;
    if (rate)
      stream.next_start =
          std::max(stream.next_start, now_) + Femtoseconds{std::llround(1e15 / rate->value)};
  }
  const std::uint32_t work = works_.make();
  works_[work] = {stream.jobs.head, bytes};
  job.sent += bytes;
  if (job.sent == job.bytes) stream.jobs.pop(jobs_);
  ++stream.in_flight;
  ++stream.statistics.packets;
  const std::uint32_t made = packets_.make();
  Packet& packet = packets_[made];
  packet.address = address;
  packet.payload = write ? bytes : 0;
  packet.asked = write ? 0 : bytes;
  packet.work = work;
  packet.from = static_cast<std::uint16_t>(at);
  packet.to = probe.to;
  packet.kind = kind;
  packet.relaxed = options.relaxed && !write;
  enqueue(way, 0, made);
  return true;
}

void Network::answered(NodeId at, const Packet& packet) {
  progress(at, packet.work,
           packet.kind == Kind::response ? works_[packet.work].left : packet.payload);
}

/// So many bytes of a packet's work are done.
void Network::progress(NodeId at, std::uint32_t index, std::uint32_t bytes) {
  Work& work = works_[index];
  ensure(bytes <= work.left, "link: more came back than was asked");
  work.left -= bytes;
  Job& job = jobs_[work.job];
  Stream& stream = nodes_[at].streams[job.write];
  stream.statistics.bytes_done += bytes;
  job.left -= bytes;
  if (job.left == 0) {
    if (job.service != kNone)
      end_service(at, job.service);
    else
      finished_.push_back({job.tag, at, job.write, job.bytes, job.asked, job.begun, now_});
    jobs_.free(work.job);
  }
  if (work.left == 0) {
    works_.free(index);
    --stream.in_flight;
    to_issue_.push_back(at);
  }
}

} // namespace umf::hw::link
