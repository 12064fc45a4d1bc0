#include "hw/link/network.h"

#include "model/base/error.h"

#include <algorithm>

/// Memory at the end of links: takes requests in, gives data and answers.
namespace umf::hw::link {

void Network::serve(NodeId at, bool write) {
  Node& node = nodes_[at];
  while (!node.waiting[write].empty() && node.in_service[write] < node.options.memory->queue)
    begin_service(at, node.waiting[write].pop(packets_));
}

void Network::begin_service(NodeId at, std::uint32_t index) {
  Node& node = nodes_[at];
  const MemoryOptions& options = *node.options.memory;
  const Packet packet = packets_[index];
  free_buffer(packet);
  packets_.free(index);
  const bool write = packet.kind == Kind::posted;
  ++node.in_service[write];
  const std::uint32_t made = services_.make();
  Service& service = services_[made];
  service = {
      packet.address, write ? packet.payload : packet.asked, packet.work, 0, packet.from, write,
      false};
  // Writes are answered where the asker waits for it.
  service.answered = write && nodes_[packet.from].options.requester->write_tags != 0;
  MemoryStatistics& s = node.memory_statistics;
  ++(write ? s.writes : s.reads);
  (write ? s.written_bytes : s.read_bytes) += service.bytes;

  if (!options.behind.empty()) {
    const std::uint64_t grain = options.behind_interleave.count;
    const std::uint64_t first = service.address / grain;
    const std::uint64_t last = (service.address + service.bytes - 1) / grain;
    service.left = static_cast<std::uint32_t>(last - first + 1);
    const std::uint64_t end = service.address + service.bytes;
    for (std::uint64_t piece = first; piece <= last; ++piece) {
      const std::uint32_t index_of_job = jobs_.make();
      Job& job = jobs_[index_of_job];
      job.address = std::max(piece * grain, packet.address);
      job.bytes = job.left =
          static_cast<std::uint32_t>(std::min((piece + 1) * grain, end) - job.address);
      job.to = static_cast<std::uint16_t>(options.behind[piece % options.behind.size()]);
      job.write = write;
      job.service = made;
      start(at, index_of_job);
    }
    return;
  }
  const bool cached = options.cache_lines > 0 && node.cache.touch(packet.address);
  if (cached) {
    ++s.cache_hits;
    service.left = 1;
    events_.push(now_ + options.cache_latency, served, at, made);
  } else if (node.dram) {
    service.left = node.dram->push(now_, service.address, service.bytes, write, made);
    play_media(at);
  } else {
    service.left = 1;
    if (options.bandwidth) {
      node.media_free =
          std::max(node.media_free, now_) + WireRate::of(*options.bandwidth).time(service.bytes);
      events_.push(node.media_free + options.latency, served, at, made);
    } else {
      events_.push(now_ + options.latency, served, at, made);
    }
  }
}

/// Lets the banks go on and takes what they have done.
void Network::play_media(NodeId at) {
  Node& node = nodes_[at];
  const Femtoseconds next = node.dram->advance(now_);
  for (const DramPort::Done& done : node.dram->done())
    events_.push(std::max(now_, done.at) + node.options.memory->latency, served, at, done.tag);
  node.dram->done().clear();
  if (next < kNever && (next < node.media_set || node.media_set <= now_)) {
    node.media_set = next;
    events_.push(next, media_at, at);
  }
}

/// A part of a service is done; with the last, data or the answer go back.
void Network::end_service(NodeId at, std::uint32_t index) {
  Service& service = services_[index];
  if (--service.left > 0) return;
  if (service.write && !service.answered) {
    progress(service.from, service.work, service.bytes);
    return leave_service(at, index);
  }
  const MemoryOptions& options = *nodes_[at].options.memory;
  const auto answer = [&](std::uint64_t address, std::uint32_t payload, bool last) {
    const std::uint32_t made = packets_.make();
    Packet& packet = packets_[made];
    packet.address = address;
    packet.payload = payload;
    packet.work = service.work;
    packet.from = static_cast<std::uint16_t>(at);
    packet.to = service.from;
    packet.kind = service.write ? Kind::response : Kind::completion;
    packet.relaxed = nodes_[service.from].options.requester->relaxed;
    packet.service = last ? index : kNone;
    // By the link its request came by: the same address.
    enqueue(route(at, packet, kNone), 0, made);
  };
  if (service.write) {
    answer(service.address, 0, true);
    return;
  }
  const std::uint64_t end = service.address + service.bytes;
  for (std::uint64_t from = service.address; from < end;) {
    std::uint64_t to = (from + options.max_payload) / options.boundary * options.boundary;
    if (to <= from) to = from + options.max_payload;
    to = std::min(to, end);
    answer(from, static_cast<std::uint32_t>(to - from), to == end);
    from = to;
  }
}

/// It makes room for the next.
void Network::leave_service(NodeId at, std::uint32_t index) {
  const bool write = services_[index].write;
  --nodes_[at].in_service[write];
  services_.free(index);
  serve(at, write);
}

} // namespace umf::hw::link
