#include "hw/dram/unit_load.h"

#include <algorithm>
#include <bit>

namespace umf::hw::dram {

namespace {

AddressMap stack_map(const DramConfig& tier, const std::vector<std::string>& hash) {
  KeyContext context;
  AddressMap map(
      {tier.organisation, tier.units, 1, tier.controller.mapping, hash, tier.controller.interleave},
      "/controller", context);
  context.throw_if_faulty();
  return map;
}

} // namespace

UnitLoad::UnitLoad(const DramConfig& tier)
    : config_(tier),
      map_(stack_map(tier, tier.controller.hash.value_or(std::vector<std::string>{}))) {
  const AddressMap plain = stack_map(tier, {});
  for (std::uint64_t bit = 1; bit < plain.bytes(); bit <<= 1)
    if (plain.locate(bit).unit != 0) unit_bits_ |= bit;
}

/// How many bytes below `address` of the tier lie in the first stack.
std::uint64_t UnitLoad::in_stack(std::uint64_t address) const {
  const std::uint64_t chunk = config_.controller.interleave.count;
  const std::uint64_t round = chunk * config_.stacks;
  return address / round * chunk + std::min(address % round, chunk);
}

std::uint64_t UnitLoad::in_tier(std::uint64_t local) const {
  const std::uint64_t chunk = config_.controller.interleave.count;
  return local / chunk * chunk * config_.stacks + local % chunk;
}

/// The unit's first access that does not lie below.
std::uint64_t UnitLoad::first(std::uint64_t local) const {
  while (const std::uint64_t wrong = local & unit_bits_)
    local = (local | (2 * std::bit_floor(wrong) - 1)) + 1;
  return local;
}

/// Where the unit's n-th access lies: the bits of n spread over those that are not the unit's.
std::uint64_t UnitLoad::nth(std::uint64_t n) const {
  std::uint64_t local = 0;
  for (std::uint64_t bit = config_.organisation.access_bytes; n != 0; bit <<= 1) {
    if (unit_bits_ & bit) continue;
    if (n & 1U) local |= bit;
    n >>= 1;
  }
  return local;
}

/// The unit's part of the next run that has one.
UnitLoad::Part UnitLoad::draw(std::uint64_t accesses, std::uint64_t& draws) const {
  const std::uint64_t access = config_.organisation.access_bytes;
  const std::uint64_t tier = map_.bytes() / access * config_.stacks;
  for (;;) {
    if (accesses >= units()) {
      const std::uint64_t run = splitmix64(++draws) % (tier - accesses) * access;
      const Part part{first(in_stack(run)), in_stack(run + accesses * access)};
      if (part.at < part.end) return part;
      continue;
    }
    // Most runs pass the unit by: an access of the unit is drawn, and how many of the run lie
    // before it; runs with several of the unit's would be drawn as often, so it has to be their
    // first.
    const std::uint64_t local = nth(splitmix64(++draws) % (map_.bytes() / access / config_.units));
    const std::uint64_t before = splitmix64(++draws) % accesses * access;
    const std::uint64_t address = in_tier(local);
    if (address < before || first(in_stack(address - before)) != local) continue;
    return {local, in_stack(address - before + accesses * access)};
  }
}

std::uint64_t UnitLoad::apart() const {
  const std::uint64_t access = config_.organisation.access_bytes;
  const Location row = map_.locate(0);
  std::uint64_t next = first(access);
  for (; next + access < map_.bytes(); next = first(next + access)) {
    const Location where = map_.locate(next);
    if (where.bank == row.bank && where.row == row.row) break;
  }
  return in_tier(next) / access;
}

double UnitLoad::share(std::span<const Stream> streams, const Time& time) const {
  const std::uint64_t access = config_.organisation.access_bytes;
  const auto clocks = [&](Femtoseconds duration) {
    const std::int64_t clock = config_.timings.clock.count;
    return (duration.count + clock - 1) / clock;
  };
  std::vector<Done> done;
  Channel unit({config_.organisation, config_.timings, config_.controller,
                clocks(config_.controller.age_cap), clocks(config_.controller.page_timeout), 0},
               done);
  const std::vector<std::uint32_t> order = turns(streams);
  std::vector<Part> parts(streams.size());
  // Writes come in drains: what the bus did counts, not what the queues took.
  const auto served = [&] {
    const ChannelStatistics& all = unit.statistics();
    return all.reads + all.writes + all.forwarded;
  };
  std::uint64_t draws = 0, before = 0;
  Cycle now = 0, begin = kNever, end = time.before;
  for (std::uint64_t turn = 0;; ++turn) {
    const std::uint32_t s = order[turn % order.size()];
    const bool write = streams[s].write;
    while (unit.full(write)) {
      now = std::max(now, unit.next()) + 1;
      unit.advance(now);
    }
    if (now >= end) {
      if (begin == kNever) {
        begin = now;
        before = served();
      } else if (served() - before >= time.accesses) {
        break;
      }
      end += time.interval;
    }
    Part& part = parts[s];
    if (part.at >= part.end) part = draw(streams[s].run.count / access, draws);
    const Location where = map_.locate(part.at);
    part.at = first(part.at + access);
    unit.push({where.bank, where.row, where.column, 0, write}, now);
    done.clear();
  }
  return static_cast<double>(served() - before) * static_cast<double>(config_.timings.burst) /
         static_cast<double>(now - begin);
}

} // namespace umf::hw::dram
