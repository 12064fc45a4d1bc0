#include "tests/hw/link/bench_top.h"

#include <catch2/catch.hpp>

/// Latency and bandwidth where arithmetic has them.
namespace umf::test {

using namespace hw::link;

namespace {

double share_of(const WireRate& wire, double rate) {
  return rate / wire.rate().value;
}

} // namespace

TEST_CASE("a byte on Gen5 x16 takes 15869.140625 fs: 8 bits / 16 lanes / 32 GT/s x 130/128") {
  CHECK(WireRate::pcie(5, 16).time(64).count == 1'015'625);
  CHECK(WireRate::pcie(3, 8).time(8).count == 8 * 8 * 125'000 / 8 * 130 / 128);
  CHECK(WireRate::pcie(2, 1).time(1).count == 2'000'000); // 10 bits at 5 GT/s
  CHECK(WireRate::pcie(6, 16).rate().value == Approx(128e9 * 236 / 256).epsilon(1e-6));
}

TEST_CASE("one PCIe read is its request, two flights, the memory and its completions") {
  const PcieConfig config = plain_pcie();
  const WireRate wire = WireRate::pcie(5, 16);
  struct Row {
    std::uint64_t address;
    std::uint32_t bytes;
    std::int64_t completions; ///< femtoseconds of wire
  };
  const Row row = GENERATE_COPY(
      Row{0, 64, wire.time(64 + 20).count}, Row{0, 256, wire.time(256 + 20).count},
      Row{0, 512, 2 * wire.time(256 + 20).count},
      // 16 B into a line: the first completion ends at a multiple of 64 B, 240 B on.
      Row{16, 512,
          wire.time(240 + 20).count + wire.time(256 + 20).count + wire.time(16 + 20).count});
  Pair pair(link_options(config, "l"), {}, plain_memory(90_ns));
  CHECK(pair.alone(row.address, row.bytes, false).count ==
        wire.time(24).count + 2 * config.latency.count + from_nanoseconds(90).count +
            row.completions);
}

TEST_CASE("one PCIe write is its packets and one flight") {
  const PcieConfig config = plain_pcie();
  const WireRate wire = WireRate::pcie(5, 16);
  Pair pair(link_options(config, "l"), {}, plain_memory(Femtoseconds{}));
  CHECK(pair.alone(0, 512, true).count == 2 * wire.time(256 + 24).count + config.latency.count);
}

TEST_CASE("writes carry P / (P + 24) of the wire, which has no DLLPs of theirs") {
  const std::uint32_t payload = GENERATE(64U, 128U, 256U, 512U);
  RequesterOptions requester;
  requester.max_payload = payload;
  Pair pair(link_options(plain_pcie(), "l"), requester, plain_memory());
  const Driven driven = pair.run({pair.load(true, 4096, 64, 4000)});
  const double p = payload;
  CHECK(share_of(WireRate::pcie(5, 16), driven.loads[0].write_rate.value) ==
        Approx(p / (p + 24)).epsilon(0.001));
  CHECK(driven.limit == Limit::wire);
  CHECK(driven.busiest == Pair::tx);
}

TEST_CASE("reads of 512 B in two completions beside an ACK and an update of three requests") {
  Pair pair(link_options(plain_pcie(), "l"), {}, plain_memory());
  const Driven driven = pair.run({pair.load(false, 512, 512, 32000)});
  CHECK(share_of(WireRate::pcie(5, 16), driven.loads[0].read_rate.value) ==
        Approx(512.0 / (2 * 276 + 16.0 / 3)).epsilon(0.001));
  CHECK(driven.busiest == Pair::rx);
}

TEST_CASE("one skip ordered set in 375 blocks costs 1 / 376 of the wire") {
  PcieConfig config = plain_pcie();
  config.skip_interval = 375;
  Pair pair(link_options(config, "l"), {}, plain_memory());
  const Driven driven = pair.run({pair.load(true, 4096, 64, 40000)});
  CHECK(share_of(WireRate::pcie(5, 16), driven.loads[0].write_rate.value) ==
        Approx(256.0 / 280 * 374 / 375).epsilon(0.0005));
}

TEST_CASE("Gen6 flits carry TLPs without framing, and DLLPs for nothing") {
  Pair pair(link_options(plain_pcie(6), "l"), {}, plain_memory());
  const Driven driven = pair.run({pair.load(true, 4096, 128, 8000)});
  CHECK(driven.loads[0].write_rate.value ==
        Approx(128e9 * 236 / 256 * 256 / (256 + 16)).epsilon(0.001));
}

TEST_CASE("reads in flight over latency bound the rate: tags x MRRS / latency") {
  RequesterOptions requester;
  requester.tags = 16;
  Pair pair(link_options(plain_pcie(), "l"), requester, plain_memory(1000_ns));
  const Driven driven = pair.run({pair.load(false, 512, 64, 4000)});
  const double alone = Pair(link_options(plain_pcie(), "l"), requester, plain_memory(1000_ns))
                           .alone(0, 512, false)
                           .seconds();
  CHECK(driven.loads[0].read_rate.value == Approx(16 * 512 / alone).epsilon(0.02));
  CHECK(driven.limit == Limit::tags);
}

TEST_CASE("posted credits over their round trip bound the rate of writes") {
  PcieConfig config = plain_pcie();
  config.credits.posted_headers = 8;
  config.update_every = 1;
  Pair pair(link_options(config, "l"), {}, plain_memory());
  const Driven driven = pair.run({pair.load(true, 4096, 64, 4000)});
  // Out, taken in at once, the update of 8 B (behind an ACK of 8 B) back.
  const WireRate wire = WireRate::pcie(5, 16);
  const double trip =
      wire.time(280).seconds() + 2 * config.latency.seconds() + wire.time(16).seconds();
  CHECK(driven.loads[0].write_rate.value == Approx(8 * 256 / trip).epsilon(0.02));
  CHECK(driven.limit == Limit::credits);
}

TEST_CASE("a DMA engine begins so many transactions a second") {
  RequesterOptions requester;
  requester.read_rate = Hertz{20e6};
  requester.write_rate = Hertz{10e6};
  Pair pair(link_options(plain_pcie(), "l"), requester, plain_memory());
  const Driven driven = pair.run({pair.load(false, 64, 64, 4000), pair.load(true, 64, 64, 4000)});
  CHECK(driven.loads[0].read_rate.value == Approx(20e6 * 64).epsilon(0.001));
  CHECK(driven.loads[1].write_rate.value == Approx(10e6 * 64).epsilon(0.001));
  CHECK(driven.limit == Limit::rate);
}

TEST_CASE("CXL reads fill 9 slots for two lines, writes 5 for one: 83.7 and 75.3 % of the wire") {
  const std::uint32_t width = GENERATE(8U, 16U);
  CxlConfig config;
  config.width = width;
  for (const bool write : {false, true}) {
    Pair pair(link_options(config, "l"), cxl_master(256), plain_memory());
    const Driven driven = pair.run({pair.load(write, 64, 256, 60000)});
    const Loaded& loaded = driven.loads[0];
    CHECK(share_of(WireRate::lanes(5, width),
                   write ? loaded.write_rate.value : loaded.read_rate.value) ==
          Approx(write ? 256.0 / (5 * 68) : 512.0 / (9 * 68)).epsilon(0.001));
  }
}

TEST_CASE(
    "256 B flits: one slot of headers first, data in the fourteen behind it or more headers") {
  CxlConfig config;
  config.flit = FlitSize::b256;
  // Reads: two headers in the first slot, three in others: 2 + 3g lines, 4 slots each, 14 - g.
  const double lines = 2 + 3 * 6.0 / 13;
  for (const bool write : {false, true}) {
    Pair pair(link_options(config, "l"), cxl_master(512), plain_memory());
    const Driven driven = pair.run({pair.load(write, 64, 512, 60000)});
    const Loaded& loaded = driven.loads[0];
    CHECK(share_of(WireRate::lanes(5, 16),
                   write ? loaded.write_rate.value : loaded.read_rate.value) ==
          Approx((write ? 3.0 : lines) * 64 / 256).epsilon(0.002)); // 15 slots: three writes
  }
}

TEST_CASE("one CXL read: a flit out, two flights, the memory, a line in two flits") {
  const CxlConfig config;
  const WireRate wire = WireRate::lanes(5, 16);
  Pair read(link_options(config, "l"), cxl_master(1), plain_memory(90_ns));
  CHECK(read.alone(0, 64, false).count ==
        3 * wire.time(68).count + 2 * config.latency.count + from_nanoseconds(90).count);
  // A write: header and three chunks, the fourth in the next flit; its answer in one.
  Pair write(link_options(config, "l"), cxl_master(1), plain_memory(90_ns));
  CHECK(write.alone(0, 64, true).count ==
        3 * wire.time(68).count + 2 * config.latency.count + from_nanoseconds(90).count);
}

TEST_CASE("a small message over NVLink is its packet and one flight: a third of a microsecond") {
  const NvlinkConfig config;
  Pair pair(link_options(config, "l"), {}, plain_memory(Femtoseconds{}));
  const double wire = 64 + static_cast<double>(config.overhead.count); // bytes at 25 GB/s
  CHECK(pair.alone(0, 64, true).nanoseconds() == Approx(300 + wire / 25).epsilon(1e-6));
}

TEST_CASE("NVLinks carry P / (P + overhead) of 25 GB/s each, and share by address") {
  const std::uint32_t links = GENERATE(1U, 4U, 12U);
  const std::uint32_t payload = GENERATE(128U, 256U);
  NvlinkConfig config;
  RequesterOptions requester;
  requester.max_payload = requester.max_read_request = payload;
  requester.interleave = {payload};
  requester.tags = 1 << 14;
  Pair pair(link_options(config, "l"), requester, plain_memory(), links);
  const Driven driven = pair.run({pair.load(true, 4096, 64 * links, 2000 * links)});
  const double p = payload, overhead = static_cast<double>(config.overhead.count);
  CHECK(driven.loads[0].write_rate.value ==
        Approx(links * 25e9 * p / (p + overhead)).epsilon(0.005));
}

} // namespace umf::test
