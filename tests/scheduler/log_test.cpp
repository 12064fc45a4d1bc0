#include "tests/scheduler/logged.h"

#include <catch2/catch.hpp>
#include <xxhash.h>

#include <vector>

/// What is written is read, of every kind of record.
using namespace umf;
using namespace umf::test;
using namespace umf::scheduler;
using Kind = LogEvent::Kind;

namespace {

LogHeader two_gpus() {
  LogHeader header;
  header.page = 64_KiB;
  header.packing = {3, 64, Bytes{6}};
  header.coherence = {PoolWrites::staged, true, 1_MiB};
  header.degrading = {0.25, 0.75, {123}, 1e-5};
  header.tiers = {{"hbm", policy::TierClass::hbm, 40},
                  {"sram", policy::TierClass::sram, 3},
                  {"cxl", policy::TierClass::pool, 1u << 31},
                  {"host", policy::TierClass::host, 0}};
  header.gpus = {{R"({"name":"lru"})", {{true, {3e12}}, {true, {}}, {true, {5e10}}, {false, {}}}},
                 {R"({"name":"umf"})", {{false, {}}, {true, {}}, {true, {5e10}}, {true, {1.5}}}}};
  return header;
}

stream::Tensor weight() {
  stream::Tensor tensor;
  tensor.id = 4'000'000'000;
  tensor.name = "layers.0.q\n\"ü\"";
  tensor.role = stream::Role::weight;
  tensor.dtype = stream::DType::bf16;
  tensor.shape = {4096, -1, 0};
  tensor.bytes = {8u << 20};
  tensor.layer = -1;
  return tensor;
}

Command command() {
  Command c;
  c.id = 77;
  c.from = {(std::uint64_t{1} << 40) + 5, 3, 2, memory::PageState::resident, 999, {}, 20'000};
  c.to = 1;
  c.to_frame = 12;
  c.why = policy::Order::Why::prefetch;
  c.keep = c.carried = true;
  c.skip = 100;
  c.bytes = 3u << 16;
  c.begun = {12345};
  c.packed = 17;
  return c;
}

std::vector<LogEvent> events_of(LogReader& reader) {
  std::vector<LogEvent> events;
  for (LogEvent event; reader.next(event);)
    events.push_back(event);
  return events;
}

} // namespace

TEST_CASE("a log reads back as the machine it was written for") {
  std::string bytes;
  LogWriter(two_gpus(), into(bytes)).finish();
  LogReader reader = reader_of(bytes);
  const LogHeader& read = reader.header();
  const LogHeader wrote = two_gpus();
  CHECK(read.page == wrote.page);
  CHECK(read.packing.bits == 3);
  CHECK(read.packing.group == 64);
  CHECK(read.packing.metadata == Bytes{6});
  CHECK(read.coherence.pool_writes == PoolWrites::staged);
  CHECK(read.coherence.forward_from_staging);
  CHECK(read.coherence.staging == 1_MiB);
  CHECK(read.degrading == wrote.degrading);
  CHECK(read.tiers == wrote.tiers);
  CHECK(read.gpus == wrote.gpus);
  CHECK(events_of(reader).empty());
}

TEST_CASE("every kind of record reads back as it was told") {
  const std::vector<PageRun> runs = {{7, 2, 1, memory::PageState::resident, 40, {}, 0}};
  const std::uint64_t far = std::uint64_t{3} << 56;
  std::string bytes;
  LogWriter writer(two_gpus(), into(bytes));
  Tap& one = writer.gpu(0);
  Tap& other = writer.gpu(1);
  one.declared(weight());
  one.preloaded(4'000'000'000);
  other.reserved({far, {100}, true});
  one.touched({far + 8, {64}, false, {50}, 9}, runs);
  one.touched({far, {64}, true, {50}, 9}, runs);
  other.asked_again({16, {1}, true, {40}, policy::kNoStep}, {});
  other.sensed({{60}, {20}, 0.5, 0.25, 0, 0});
  other.served_faults(256, {60});
  other.made_room(true);
  one.gave(Asked::background, nullptr);
  const Command wrote = command();
  one.gave(Asked::carried, &wrote);
  one.refused(wrote, {70});
  one.landed(wrote, true);
  one.suspended(wrote);
  one.quiesced(wrote, {80});
  one.completed(wrote);
  one.reclaimed(far, {32}, {far - 8, far + 32});
  one.released(4'000'000'000);
  other.link_changed(2, {0.5, 1e-4, true}, {90});
  writer.finish();

  const std::size_t at_a_time = GENERATE(1u, 7u, 1u << 20); // wherever reads are cut
  LogReader reader = reader_of(bytes, at_a_time);
  const std::vector<LogEvent> events = events_of(reader);

  const std::vector<Kind> kinds = {Kind::declare,   Kind::preload, Kind::reserve,  Kind::touch,
                                   Kind::touch,     Kind::again,   Kind::sense,    Kind::serve,
                                   Kind::make_room, Kind::next,    Kind::next,     Kind::refused,
                                   Kind::landed,    Kind::suspend, Kind::quiesced, Kind::completed,
                                   Kind::reclaim,   Kind::release, Kind::link};
  const std::vector<std::uint32_t> gpus = {0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const std::vector<std::int64_t> times = {0,  0,  0,  50, 50, 40, 60, 60, 60, 60,
                                           60, 70, 70, 70, 80, 80, 80, 80, 90};
  REQUIRE(events.size() == kinds.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    CAPTURE(i);
    CHECK(events[i].kind == kinds[i]);
    CHECK(events[i].gpu == gpus[i]);
    CHECK(events[i].number == i + 1);
    CHECK(events[i].now.count == times[i]);
  }
  const stream::Tensor tensor = events[0].declared;
  CHECK(tensor.id == weight().id);
  CHECK(tensor.name == weight().name);
  CHECK(tensor.role == weight().role);
  CHECK(tensor.dtype == weight().dtype);
  CHECK(tensor.shape == weight().shape);
  CHECK(tensor.bytes == weight().bytes);
  CHECK(tensor.layer == -1);
  CHECK(events[1].tensor == weight().id);
  CHECK(events[2].access.address == far);
  CHECK(events[2].access.length == Bytes{100});
  CHECK(events[2].access.write);
  CHECK(events[3].access.address == far + 8);
  CHECK(events[3].access.step == 9);
  CHECK_FALSE(events[3].access.write);
  CHECK(events[3].digest == digest_of(runs));
  CHECK(events[4].access.address == far);
  CHECK(events[4].access.write);
  CHECK(events[4].access.step == 9);
  CHECK(events[5].access.address == 16);
  CHECK(events[5].access.step == policy::kNoStep);
  CHECK(events[5].digest == digest_of({}));
  CHECK(events[6].sensors.now.count == 60);
  CHECK(events[6].sensors.window.count == 20);
  CHECK(events[6].sensors.hbm_utilisation == 0.5);
  CHECK(events[6].sensors.sram_hit_rate == 0.25);
  CHECK(events[7].pages == 256);
  CHECK(events[8].look_again);
  CHECK(events[9].asked == Asked::background);
  CHECK_FALSE(events[9].given);
  CHECK(events[10].asked == Asked::carried);
  CHECK(events[10].given);
  CHECK(same(events[10].command, wrote));
  CHECK(events[11].command.id == 77);
  CHECK(events[12].look_again);
  CHECK(events[16].dead.begin == far - 8);
  CHECK(events[16].dead.end == far + 32);
  CHECK(events[17].tensor == weight().id);
  CHECK(events[18].tier == 2);
  CHECK(events[18].condition == Condition{0.5, 1e-4, true});
}

TEST_CASE("a log of version 1 is read: nothing was known then of ways that change") {
  std::string bytes;
  LogHeader made = two_gpus();
  made.degrading = {0.25, 0.75, {1}, 0.5};
  LogWriter writer(made, into(bytes));
  writer.gpu(0).served_faults(3, {60});
  writer.finish();
  // What version 2 has in its header: three reals and a byte. Then the checksum of the rest.
  const double first = 0.25;
  const auto at = bytes.find(std::string(reinterpret_cast<const char*>(&first), sizeof first));
  REQUIRE(at != std::string::npos);
  bytes.erase(at, 25);
  bytes[8] = 1;
  bytes.resize(bytes.size() - 8);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  bytes.append(reinterpret_cast<const char*>(&hash),
               sizeof hash); // of a machine with low bytes first
  LogReader reader = reader_of(bytes);
  CHECK(reader.header().degrading.below == 0);
  CHECK(reader.header().degrading.errors == 0);
  CHECK(reader.header().tiers == made.tiers);
  const std::vector<LogEvent> events = events_of(reader);
  REQUIRE(events.size() == 1);
  CHECK(events[0].pages == 3);
}

TEST_CASE("a scan reads back as one, and is no move") {
  std::string bytes;
  LogWriter writer(two_gpus(), into(bytes));
  Command scan;
  scan.id = 5;
  scan.scan = 70'000;
  const Command move = command();
  writer.gpu(0).gave(Asked::any, &move);
  writer.gpu(0).gave(Asked::any, &scan);
  writer.gpu(0).quiesced(scan, {80});
  writer.gpu(0).completed(scan);
  writer.gpu(0).gave(Asked::any, &move);
  writer.finish();
  LogReader reader = reader_of(bytes);
  const std::vector<LogEvent> events = events_of(reader);
  REQUIRE(events.size() == 5);
  CHECK(same(events[1].command, scan));
  CHECK_FALSE(same(events[1].command, move));
  CHECK(events[2].command.id == 5);
  CHECK(same(events[4].command, move)); // told relative to the move before, over the scan
}

TEST_CASE("a digest tells apart all that a machine acts on") {
  const memory::PageRun run{7, 2, 1, memory::PageState::resident, 40, {}, 0};
  const auto digest = [](memory::PageRun changed) { return digest_of(std::span(&changed, 1)); };
  const std::uint32_t was = digest(run);
  memory::PageRun other = run;
  CHECK(digest(other) == was);
  SECTION("which pages") {
    other.first = 8;
  }
  SECTION("how many") {
    other.count = 3;
  }
  SECTION("tier") {
    other.tier = 2;
  }
  SECTION("state") {
    other.state = memory::PageState::moving;
  }
  SECTION("place") {
    other.frame = 41;
  }
  SECTION("packing") {
    other.packed = 100;
  }
  CHECK(digest(other) != was);
}

TEST_CASE("commands are the same when all that is to be done is") {
  const Command was = command();
  Command other = was;
  CHECK(same(was, other));
  SECTION("id") {
    other.id = 1;
  }
  SECTION("pages") {
    other.from.count = 1;
  }
  SECTION("source") {
    other.from.frame = 1;
  }
  SECTION("destination") {
    other.to = 2;
  }
  SECTION("frame") {
    other.to_frame = 1;
  }
  SECTION("why") {
    other.why = policy::Order::Why::room;
  }
  SECTION("blank") {
    other.blank = true;
  }
  SECTION("back") {
    other.back = true;
  }
  SECTION("keep") {
    other.keep = false;
  }
  SECTION("carried") {
    other.carried = false;
  }
  SECTION("sync") {
    other.sync = true;
  }
  SECTION("skip") {
    other.skip = 1;
  }
  SECTION("bytes") {
    other.bytes = 1;
  }
  SECTION("begun") {
    other.begun = {1};
  }
  SECTION("packed") {
    other.packed = 1;
  }
  SECTION("scan") {
    other.scan = 1;
  }
  CHECK_FALSE(same(was, other));
}
