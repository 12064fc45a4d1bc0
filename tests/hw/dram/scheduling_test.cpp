#include "hw/dram/standard.h"
#include "tests/hw/dram/directed.h"
#include "tests/hw/dram/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace umf;
using namespace umf::hw::dram;
using namespace umf::hw::dram::test;

namespace {

struct Hbm3 {
  DramStandard standard = read_standard("hbm3");
  Organisation organisation = umf::hw::dram::organisation(standard);
  Timings t = timings(standard, standard.tCK);
  Channel::Config config = quiet(organisation, t);
};

/// Advances by a command at a time until the queue has room.
Cycle wait_for_room(Channel& channel, bool write, Cycle now) {
  while (channel.full(write)) {
    now = std::max(now, channel.next() + 1);
    channel.advance(now);
  }
  return now;
}

/// The wait of a read of row 1 whose bank has hits of row 0 in the queue all the time.
Cycle wait_beside_hits(Channel::Config config, Cycle give_up) {
  config.controller.read_queue = 8;
  std::vector<Done> done;
  Channel channel(config, done);
  std::uint32_t column = 0;
  const auto hit = [&](Cycle now) { channel.push({0, 0, column++ % 32, 0, false}, now); };
  Cycle now = 0;
  for (int n = 0; n < 6; ++n)
    hit(now);
  now = 1000; // row 0 is open
  channel.advance(now);
  const Cycle pushed = now;
  hit(now);
  channel.push({0, 1, 0, 1, false}, now);
  for (; now < pushed + give_up; now = std::max(now + 1, channel.next() + 1)) {
    channel.advance(now);
    for (const Done& d : done)
      if (d.tag == 1) return d.at - pushed;
    while (channel.waiting(false) < 6)
      hit(now);
  }
  return kNever;
}

} // namespace

TEST_CASE("row hits keep a conflicting read waiting until the age cap and no longer") {
  Hbm3 h;
  const Timings& t = h.t;
  for (const Cycle cap : {200, 1000, 3200}) {
    CAPTURE(cap);
    h.config.age_cap = cap;
    const Cycle wait = wait_beside_hits(h.config, 100'000);
    CHECK(wait > cap);
    // The cap is seen with the next hit, tCCD_L apart; then the row is closed, its own opened.
    CHECK(wait <= cap + 1 + t.tCCDL + t.tRTP + t.tRP + t.tRCDRD + t.tCL + t.burst);
  }
  h.config.age_cap = kNever;
  CHECK(wait_beside_hits(h.config, 100'000) == kNever); // it is the cap that ends it
}

TEST_CASE("a drain of writes begins at the high watermark and ends at the low one") {
  Hbm3 h;
  h.config.controller.write_high = 24;
  h.config.controller.write_low = 8;
  std::vector<Done> done;
  std::vector<Command> log;
  Channel channel(h.config, done);
  channel.log_to(&log);
  Cycle now = 0;
  std::uint32_t reads = 0;
  const auto run = [&](Cycle clocks) { // reads are waiting all the time
    for (const Cycle end = now + clocks; now < end; ++now) {
      while (!channel.full(false))
        channel.push(read_of(0, 0, reads++ % 32), now);
      channel.advance(now + 1);
    }
  };
  const auto written = [&] {
    return std::count_if(log.begin(), log.end(),
                         [](const Command& c) { return c.order == Order::write; });
  };
  run(200);
  for (std::uint32_t n = 0; n < 23; ++n)
    channel.push(write_of(4, 0, n), now);
  run(5000);
  CHECK(written() == 0); // one short of the watermark
  channel.push(write_of(4, 0, 23), now);
  run(5000);
  CHECK(written() == 24 - 8);
  // In one go: no read between the first and the last.
  const auto is_write = [](const Command& c) { return c.order == Order::write; };
  const auto first = std::find_if(log.begin(), log.end(), is_write);
  const auto last = std::find_if(log.rbegin(), log.rend(), is_write).base();
  CHECK(std::none_of(first, last, [](const Command& c) { return c.order == Order::read; }));
  CHECK(std::any_of(last, log.end(), [](const Command& c) { return c.order == Order::read; }));
}

TEST_CASE("writes go without a watermark where no read waits") {
  Hbm3 h;
  CHECK(watch(h.config, {{0, write_of(0)}}, {Order::write, 0}).at == h.t.tRCDWR);
}

TEST_CASE("each page policy wins where it should") {
  // Four reads of a row 100 clocks apart, 4000 clocks of silence, then another row of the bank.
  Hbm3 h;
  const Timings& t = h.t;
  const auto total = [&](PagePolicy page, int reads, Cycle apart, Cycle silence) {
    Channel::Config config = h.config;
    config.controller.page = page;
    config.page_timeout = 320;
    std::vector<Done> done;
    Channel channel(config, done);
    Cycle now = 0, sum = 0;
    for (std::uint32_t row = 0; row < 10; ++row, now += silence)
      for (int n = 0; n < reads; ++n, now += apart) {
        channel.push(read_of(0, row, static_cast<std::uint32_t>(n)), now);
        drain(channel, now);
        if (row > 0) sum += done.back().at - now; // the first finds a bank without a row
      }
    return sum / 9;
  };
  const Cycle hit = t.tCL + t.burst, closed = t.tRCDRD + hit, conflict = t.tRP + closed;
  // Runs with silences: a conflict and three hits; four rows opened; one opened, three hits.
  CHECK(total(PagePolicy::open, 4, 100, 4000) == conflict + 3 * hit);
  CHECK(total(PagePolicy::closed, 4, 100, 4000) == 4 * closed);
  CHECK(total(PagePolicy::timeout, 4, 100, 4000) == closed + 3 * hit);
  // Long runs, rows following at once: tRP against 31 tRCD. The timeout has no time.
  CHECK(total(PagePolicy::open, 32, 100, 0) == conflict + 31 * hit);
  CHECK(total(PagePolicy::closed, 32, 100, 0) == 32 * closed);
  CHECK(total(PagePolicy::timeout, 32, 100, 0) == conflict + 31 * hit);
  // One read a row: closing at once saves tRP.
  CHECK(total(PagePolicy::open, 1, 200, 0) == conflict);
  CHECK(total(PagePolicy::closed, 1, 200, 0) == closed);
  CHECK(total(PagePolicy::timeout, 1, 200, 0) == conflict);
}

// https://github.com/umd-memsys/DRAMsim3/issues/43: a write after a read of its address never went.
TEST_CASE("a thousand reads and writes of one address end, whichever comes first") {
  Hbm3 h;
  const Timings& t = h.t;
  const bool write_first = GENERATE(false, true);
  const bool patient = GENERATE(false, true); // waits for each pair
  CAPTURE(write_first, patient);
  std::vector<Done> done;
  std::vector<Command> log;
  Channel channel(h.config, done);
  channel.log_to(&log);
  Cycle now = 0;
  for (int n = 0; n < 1000; ++n) {
    for (const bool write : {write_first, !write_first}) {
      now = wait_for_room(channel, write, now);
      channel.push(write ? write_of(0) : read_of(0), now);
    }
    if (patient) now = drain(channel, now);
  }
  now = drain(channel, now);
  CHECK(done.size() == 2000);
  const ChannelStatistics& s = channel.statistics();
  CHECK(s.writes == 1000);
  CHECK(s.reads + s.forwarded == 1000);
  // A read behind a write of the same clock finds it in the queue; one that comes alone, never.
  if (write_first) CHECK(s.forwarded == 1000);
  if (!write_first && patient) CHECK(s.forwarded == 0);
  // Otherwise only the first, and those after a pause of the queue, went to the bank.
  if (!write_first && !patient) CHECK(s.forwarded > 0);
  // Each pair costs at most one turn each way and what opens the row.
  const Cycle turns = t.tRTW + t.tCWL + t.burst + t.tWTRL + t.tCCDLWR;
  CHECK(now <= t.tRCDRD + 1000 * turns);
}

TEST_CASE("a read returns what was written before it and a write waits for the reads before it") {
  Hbm3 h;
  std::vector<Done> done;
  std::vector<Command> log;
  Channel channel(h.config, done);
  channel.log_to(&log);
  channel.push({0, 0, 7, 1, false}, 0);
  channel.push({0, 0, 7, 2, true}, 0);  // waits for read 1
  channel.push({0, 0, 7, 3, false}, 0); // takes the data of write 2
  drain(channel, 0);
  REQUIRE(log.size() == 3); // ACT, RD, WR
  CHECK(log[1].order == Order::read);
  CHECK(log[2].order == Order::write);
  CHECK(log[2].at == log[1].at + h.t.tRTW);
  // Both the write and the read behind it are done a clock after they came.
  REQUIRE(done.size() == 3);
  CHECK((done[0].tag == 2 && done[0].at == 1));
  CHECK((done[1].tag == 3 && done[1].at == 1));
  CHECK((done[2].tag == 1 && done[2].at == h.t.tRCDRD + h.t.tCL + h.t.burst));
}

TEST_CASE("writes that keep coming do not keep a read waiting beyond the age cap") {
  Hbm3 h;
  h.config.age_cap = 1000;
  std::vector<Done> done;
  Channel channel(h.config, done);
  Cycle now = 0, read = kNever;
  std::uint32_t writes = 0;
  for (; now < 50'000 && read == kNever; ++now) {
    while (!channel.full(true))
      channel.push({4, 0, writes++ % 32, 0, true}, now);
    if (now == 500) channel.push({0, 0, 0, 1, false}, now);
    channel.advance(now + 1);
    for (const Done& d : done)
      if (d.tag == 1) read = d.at;
    done.clear();
  }
  // The cap, the turn from the last write, and opening the row.
  const Timings& t = h.t;
  CHECK(read <=
        500 + 1000 + 1 + t.tCCDLWR + t.tCWL + t.burst + t.tWTRL + t.tRCDRD + t.tCL + t.burst);
}

TEST_CASE("hits of one rank do not keep a hit of the other waiting beyond the age cap") {
  // tCCD_R is a clock more than tCCD_S: by time alone the rank on the bus would always win.
  Hbm3 h;
  const Timings& t = h.t;
  h.config.age_cap = 1000;
  std::vector<Done> done;
  Channel channel(h.config, done);
  const std::uint32_t groups = h.organisation.bank_groups, banks = h.organisation.banks;
  const std::uint32_t other = h.organisation.banks_of_rank();
  std::uint32_t n = 0;
  const auto hit = [&](Cycle now) {
    channel.push({n % groups * banks, 0, n / groups % 32, 0, false}, now);
    ++n;
  };
  channel.push(read_of(other), 0);
  for (std::uint32_t g = 0; g < groups; ++g)
    hit(0);
  drain(channel, 0);
  Cycle read = kNever;
  for (Cycle now = 500; now < 50'000 && read == kNever; ++now) {
    while (channel.waiting(false) < 32)
      hit(now);
    if (now == 1000) channel.push({other, 0, 1, 1, false}, now);
    channel.advance(now + 1);
    for (const Done& d : done)
      if (d.tag == 1) read = d.at;
    done.clear();
  }
  CHECK(read <= 1000 + 1000 + 1 + t.tCCDL + t.tCCDR + t.tCL + t.burst);
}
