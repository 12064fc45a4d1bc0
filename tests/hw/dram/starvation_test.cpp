#include "hw/dram/standard.h"
#include "hw/dram/traffic.h"
#include "tests/hw/dram/directed.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace umf;
using namespace umf::hw::dram;
using namespace umf::hw::dram::test;

namespace {

constexpr Cycle kCap = 1500, kCome = 3000;
constexpr std::uint32_t kVictimRow = 77;

/// Who keeps the channel busy: its n-th access.
struct Crowd {
  const char* name;
  Access (*access)(const Organisation&, std::uint32_t n);
};

constexpr Crowd kCrowds[] = {
    {"hits of one bank",
     [](const Organisation&, std::uint32_t n) { return read_of(0, 0, n % 16); }},
    {"hits of every group",
     [](const Organisation& o, std::uint32_t n) {
       return read_of(n % o.bank_groups * o.banks, 0, n % 16);
     }},
    {"hits of every bank",
     [](const Organisation& o, std::uint32_t n) { return read_of(n % o.all_banks(), 0, n % 16); }},
    {"writes to every group",
     [](const Organisation& o, std::uint32_t n) {
       return write_of(n % o.bank_groups * o.banks, 0, n % 16);
     }},
    {"reads and writes of two banks",
     [](const Organisation& o, std::uint32_t n) {
       return n % 2 == 0 ? read_of(0, 0, n % 16) : write_of(o.banks, 0, n % 16);
     }},
    {"reads and writes at random",
     [](const Organisation& o, std::uint32_t n) {
       const std::uint64_t r = splitmix64(n);
       return Access{static_cast<std::uint32_t>(r % o.all_banks()),
                     static_cast<std::uint32_t>(r >> 32U) % 4,
                     static_cast<std::uint32_t>(r >> 40U) % 16, 0, (r >> 50U) % 3 == 0};
     }},
};

/// From its arrival to its column command; kNever: not within 100 000 clocks.
Cycle wait_in(const Channel::Config& config, const Crowd& crowd, Access victim) {
  std::vector<Done> done;
  std::vector<Command> log;
  Channel channel(config, done);
  channel.log_to(&log);
  std::uint32_t n = 0;
  bool come = false;
  std::size_t seen = 0;
  for (Cycle now = 0; now < kCome + 100'000; now = std::max(now + 1, channel.next() + 1)) {
    channel.advance(now);
    if (!come && now >= kCome && !channel.full(victim.write)) {
      channel.push(victim, now);
      come = true;
    }
    // The crowd leaves a place for the victim.
    for (;; ++n) {
      const Access access = crowd.access(config.organisation, n);
      const std::uint32_t most =
          access.write ? config.controller.write_queue : config.controller.read_queue;
      if (channel.waiting(access.write) + 1 >= most) break;
      channel.push(access, now);
    }
    for (; seen < log.size(); ++seen)
      if (log[seen].row == kVictimRow &&
          log[seen].order == (victim.write ? Order::write : Order::read))
        return log[seen].at - kCome;
  }
  return kNever;
}

} // namespace

TEST_CASE("whatever keeps a channel busy, a request waits little longer than the age cap") {
  for (const EmbeddedStandard& shipped : shipped_standards())
    for (const RefreshMode refresh : {RefreshMode::none, RefreshMode::per_bank})
      for (const PagePolicy page : {PagePolicy::open, PagePolicy::closed})
        for (const Crowd& crowd : kCrowds) {
          const DramStandard standard = read_standard(shipped.name);
          Channel::Config config = quiet(organisation(standard), timings(standard, standard.tCK));
          config.age_cap = kCap;
          config.controller.refresh = refresh;
          config.controller.page = page;
          const ControllerConfig& c = config.controller;
          const Timings& t = config.timings;
          // Older reads go before it at the pace of one bank group, a drain under way does its
          // least, and before a write all older writes go; the bus turns, the bank is refreshed,
          // its row closed and the right one opened.
          const Cycle reads = static_cast<Cycle>(c.read_queue) * t.tCCDL;
          const auto writes = [&](bool all) {
            return static_cast<Cycle>(all ? c.write_queue : c.write_high - c.write_low) * t.tCCDLWR;
          };
          const Cycle turn = t.tRTW + t.tCWL + t.burst + std::max(t.tWTRL, t.tWR);
          const Cycle row = t.tRAS + t.tRP + std::max(t.tRCDRD, t.tRCDWR);
          const Cycle refreshed = refresh == RefreshMode::none ? 0 : t.tRFCpb;
          const Organisation& o = config.organisation;
          for (const bool write : {false, true})
            for (const std::uint32_t bank : {0U, 1U, o.banks, o.all_banks() - 1}) {
              CAPTURE(shipped.name, static_cast<int>(refresh), static_cast<int>(page), crowd.name,
                      write, bank);
              const Access victim{bank, kVictimRow, 31, 1, write};
              CHECK(wait_in(config, crowd, victim) <=
                    kCap + reads + writes(write) + turn + row + refreshed);
            }
        }
}
