#include "hw/link/dram_port.h"

#include "hw/link/event_queue.h"

#include <algorithm>

namespace umf::hw::link {

using dram::Cycle;

DramPort::DramPort(const dram::DramConfig& config) : dram_(config), waiting_(dram_.units()) {}

std::uint32_t DramPort::push(Femtoseconds now, std::uint64_t address, std::uint32_t bytes,
                             bool write, std::uint32_t tag) {
  const std::uint64_t size = dram_.access_bytes();
  const std::uint64_t begin = address / size, end = (address + bytes + size - 1) / size;
  const Cycle clock = dram_.clocks(now);
  for (std::uint64_t line = begin; line < end; ++line) {
    const dram::Location where = dram_.locate(line * size);
    Queue& line_of_unit = waiting_[where.unit];
    if (line_of_unit.empty() && dram_.offer(where, write, tag, clock) != dram::Offer::refused)
      continue;
    const std::uint32_t index = accesses_.make();
    accesses_[index].where = where;
    accesses_[index].tag = tag;
    accesses_[index].write = write;
    line_of_unit.push(accesses_, index);
    ++waits_;
  }
  collect(clock);
  return static_cast<std::uint32_t>(end - begin);
}

void DramPort::collect(Cycle now) {
  for (const dram::Done& done : dram_.done())
    done_.push_back({done.tag, dram_.time(std::max(done.at, now))});
  dram_.done().clear();
}

Femtoseconds DramPort::advance(Femtoseconds time) {
  const Cycle now = dram_.clocks(time);
  for (std::uint32_t unit = 0; waits_ > 0 && unit < waiting_.size(); ++unit) {
    Queue& line = waiting_[unit];
    while (!line.empty()) {
      const Access& head = accesses_[line.head];
      if (dram_.offer(head.where, head.write, head.tag, now) == dram::Offer::refused) break;
      accesses_.free(line.pop(accesses_));
      --waits_;
    }
  }
  if (dram_.horizon() <= now) dram_.advance(now);
  collect(now);
  Cycle next = dram_.horizon();
  for (std::uint32_t unit = 0; waits_ > 0 && unit < waiting_.size(); ++unit)
    if (!waiting_[unit].empty()) next = std::min(next, dram_.room(unit));
  return next == dram::kNever ? kNever : dram_.time(std::max(next, now + 1));
}

} // namespace umf::hw::link
