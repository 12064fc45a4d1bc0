#include "tests/hw/link/bench_top.h"

#include <catch2/catch.hpp>

/// Speed and width that change in mid-run.
namespace umf::test {

using namespace hw::link;

namespace {

constexpr Femtoseconds us(std::int64_t n) {
  return from_nanoseconds(1000 * n);
}

/// Writes without end; payload that has come out of the link between two times.
class Stream {
public:
  explicit Stream(const PcieConfig& config) : pair_(link_options(config, "l"), {}, plain_memory()) {
    refill(64);
  }
  Network& network() { return pair_.network; }
  double rate(Femtoseconds from, Femtoseconds to) {
    go(from);
    const std::uint64_t before = out();
    go(to);
    return static_cast<double>(out() - before) / (to - from).seconds();
  }
  void finish() {
    while (pair_.network.next() < kNever)
      pair_.network.advance(pair_.network.next());
    pair_.network.prove_idle();
  }

private:
  std::uint64_t out() { return pair_.network.statistics(Pair::tx).payload_out; }
  void refill(std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      pair_.network.submit({pair_.asker, pair_.memory, 4096 * next_++ % (1 << 30), 4096, true, 0});
  }
  void go(Femtoseconds until) {
    while (pair_.network.now() < until) {
      pair_.network.advance_to_finish(until);
      refill(pair_.network.finished().size());
      pair_.network.finished().clear();
    }
  }

  Pair pair_;
  std::uint64_t next_ = 0;
};

const double kGen5 = 63.015e9 * 256 / 280;

} // namespace

TEST_CASE("training down and up again changes the rate at that instant, and nothing is lost") {
  PcieConfig config = plain_pcie();
  config.recovery = us(5);
  Stream stream(config);
  stream.network().retrain(0, us(50), WireRate::pcie(4, 16));
  stream.network().retrain(0, us(100), WireRate::pcie(5, 8));
  stream.network().retrain(0, us(150), WireRate::pcie(5, 16));
  CHECK(stream.rate(us(10), us(50)) == Approx(kGen5).epsilon(0.005));
  CHECK(stream.rate(us(51), us(55)) == 0); // in recovery
  CHECK(stream.rate(us(56), us(100)) == Approx(kGen5 / 2).epsilon(0.005));
  CHECK(stream.rate(us(106), us(150)) == Approx(kGen5 / 2).epsilon(0.005));
  CHECK(stream.rate(us(156), us(190)) == Approx(kGen5).epsilon(0.005));
  CHECK(stream.network().statistics(0).retrainings == 3);
  CHECK(stream.network().statistics(0).down == us(15));
  stream.finish();
}

TEST_CASE("errors train the link down, and it comes back") {
  PcieConfig config = plain_pcie();
  config.bit_error_rate = 3e-7;
  config.errors_to_degrade = 3;
  config.error_window = us(1000);
  config.degraded_generation = 3;
  config.degraded_for = us(100);
  config.recovery = us(2);
  Stream stream(config);
  stream.rate(us(0), us(400));
  const DirectionStatistics tx = stream.network().statistics(0);
  CHECK(tx.retrainings >= 2);
  CHECK(tx.errors >= 3);
  stream.finish();

  config.degraded_for = {};
  Stream stays(config);
  CHECK(stays.rate(us(600), us(700)) == Approx(kGen5 / 4).epsilon(0.02));
  stays.finish();
}

TEST_CASE("a training that nothing waits for leaves no trace but its time") {
  PcieConfig config = plain_pcie();
  Pair pair(link_options(config, "l"), {}, plain_memory());
  pair.network.retrain(0, us(1), WireRate::pcie(1, 1));
  pair.network.advance(us(100));
  CHECK(pair.alone(0, 64, false).count ==
        WireRate::pcie(1, 1).time(24).count + WireRate::pcie(1, 1).time(84).count +
            2 * config.latency.count + from_nanoseconds(90).count);
}

} // namespace umf::test
