#include "tests/hw/link/bench_top.h"

#include <catch2/catch.hpp>

/// Bit errors, NAKs, and what is sent again.
namespace umf::test {

using namespace hw::link;

namespace {

struct Framed {
  LinkOptions link;
  RequesterOptions requester;
};
Framed framed(int which, double bit_error_rate) {
  if (which == 0) {
    PcieConfig config = plain_pcie();
    config.bit_error_rate = bit_error_rate;
    return {link_options(config, "l"), {}};
  }
  if (which == 1) {
    CxlConfig config;
    config.bit_error_rate = bit_error_rate;
    return {link_options(config, "l"), cxl_master(256)};
  }
  NvlinkConfig config;
  config.bit_error_rate = bit_error_rate;
  return {link_options(config, "l"), {}};
}

} // namespace

TEST_CASE("everything arrives under bit errors, and what was sent again is counted") {
  const int which = GENERATE(0, 1, 2);
  const Framed with = framed(which, 1e-6), without = framed(which, 0);
  Pair pair(with.link, with.requester, plain_memory());
  const std::uint64_t size = which == 1 ? 64 : 4096, count = which == 1 ? 100'000 : 3000;
  const Driven driven =
      pair.run({pair.load(true, size, 64, count), pair.load(false, size, 64, count)});
  const DirectionStatistics tx = pair.network.statistics(Pair::tx);
  CHECK(tx.payload_in == tx.payload_out);
  CHECK(tx.payload_out >= size * count);
  CHECK(tx.errors > 0);
  CHECK(tx.replays >= tx.errors);
  CHECK(tx.replay.count > 0);
  CHECK(pair.network.statistics(Pair::rx).naks == tx.errors);

  Pair clean(without.link, without.requester, plain_memory());
  const Driven ideal =
      clean.run({clean.load(true, size, 64, count), clean.load(false, size, 64, count)});
  CHECK(driven.loads[0].write_rate < ideal.loads[0].write_rate);
  CHECK(clean.network.statistics(Pair::tx).errors == 0);
}

TEST_CASE("errors come as often as the rate says: 1 - (1 - BER)^bits of the packets") {
  PcieConfig config = plain_pcie();
  config.bit_error_rate = 1e-6;
  Pair pair(link_options(config, "l"), {}, plain_memory());
  pair.run({pair.load(true, 4096, 64, 20'000)});
  const DirectionStatistics tx = pair.network.statistics(Pair::tx);
  // 280 B are 2240 bits; an error dooms what is on its way, which is drawn for but not counted.
  const double expected = static_cast<double>(tx.packets_in) * 2240e-6;
  CHECK(static_cast<double>(tx.errors) == Approx(expected).epsilon(0.15));
}

TEST_CASE("an error costs a round trip of the wire") {
  PcieConfig config = plain_pcie();
  config.bit_error_rate = 1e-7;
  Pair pair(link_options(config, "l"), {}, plain_memory());
  pair.run({pair.load(true, 4096, 64, 20'000)});
  const DirectionStatistics tx = pair.network.statistics(Pair::tx);
  REQUIRE(tx.errors > 5);
  const double each = tx.replay.seconds() / static_cast<double>(tx.errors);
  // The packet, then all until the NAK is back: two flights, and 8 B of NAK.
  const double trip = 2 * config.latency.seconds() + WireRate::pcie(5, 16).time(280 + 16).seconds();
  CHECK(each == Approx(trip).epsilon(0.1));
}

TEST_CASE("the seed decides which packets are hit") {
  PcieConfig config = plain_pcie();
  config.bit_error_rate = 1e-6;
  const auto elapsed = [&](std::uint64_t seed) {
    Pair pair(link_options(config, "l"), {}, plain_memory(), 1, seed);
    return pair.run({pair.load(true, 4096, 64, 2000)}).elapsed;
  };
  CHECK(elapsed(1) == elapsed(1));
  CHECK(elapsed(1) != elapsed(2));
}

TEST_CASE("a small replay buffer holds the wire up until ACKs are back") {
  PcieConfig config = plain_pcie();
  config.replay_buffer = Bytes{2048};
  config.ack_every = 1;
  Pair pair(link_options(config, "l"), {}, plain_memory());
  const Driven driven = pair.run({pair.load(true, 4096, 64, 4000)});
  CHECK(pair.network.statistics(Pair::tx).no_buffer.count > 0);
  // 2048 B and the packet that goes over them, a round trip: 8 packets.
  const double trip = WireRate::pcie(5, 16).time(280 + 8).seconds() + 2 * config.latency.seconds();
  CHECK(driven.loads[0].write_rate.value == Approx(8 * 256 / trip).epsilon(0.05));
}

} // namespace umf::test
