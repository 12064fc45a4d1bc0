#include "model/policy/break_even.h"

#include <catch2/catch.hpp>

using namespace umf;
using policy::BreakEven;

namespace {

/// A link of 50 GB/s in, 40 GB/s out; HBM of 1 TB/s; 1 us and 0.5 us of latency; bursts of 1 MB.
BreakEven machine() {
  BreakEven even;
  even.remote = {{50e9}, {40e9}, 1000_ns};
  even.local = {{1000e9}, {1000e9}, 500_ns};
  even.burst = {1'000'000};
  return even;
}
constexpr Bytes kBytes{10'000'000};

} // namespace

TEST_CASE("a read takes its bytes at the rate of the way and its latency") {
  const BreakEven even = machine();
  CHECK(even.read_remote(kBytes) == 201'000_ns); // 10 MB at 50 GB/s = 200 us
  CHECK(even.read_local(kBytes) == 10'500_ns);   // 10 MB at 1 TB/s = 10 us
}

TEST_CASE("a move takes its bytes at the slower side and one burst on the faster") {
  const BreakEven even = machine();
  CHECK(even.move_in(kBytes) == 201'000_ns);  // 200 us + 1 MB at 1 TB/s = 1 us
  CHECK(even.move_out(kBytes) == 251'000_ns); // 10 MB at 40 GB/s = 250 us, + 1 us
  CHECK(even.move_in({100'000}) == 2'100_ns); // shorter than a burst: 2 us + 0.1 us
}

TEST_CASE("copying pays from the read on that repays the move") {
  // Every read saves 201 - 10.5 = 190.5 us. A copy costs 201 us: 1.06 reads, so two. A migration
  // costs 251 + 201 = 452 us: 2.37 reads, so three.
  CHECK(machine().copy_from(kBytes) == 2u);
  CHECK(machine().migrate_from(kBytes) == 3u);
}

TEST_CASE("a cost that is repaid exactly is not yet a gain") {
  // A read saves the 100 us of latency and the move costs 200 us: equal at two reads.
  BreakEven even;
  even.remote = {{1e12}, {1e12}, {}};
  even.local = {{1e12}, {1e12}, {}};
  even.remote.latency = 100'000_ns;
  even.service = 100'000_ns; // 100 MB at 1 TB/s are the other 100 us
  CHECK(even.copy_from({100'000'000}) == 3u);
}

TEST_CASE("each batch of faults pays its service") {
  BreakEven even = machine();
  even.service = 20'000_ns;
  even.batch = Bytes{4'000'000}; // 10 MB are three batches
  CHECK(even.move_in(kBytes) == 261'000_ns);
  CHECK(even.copy_from(kBytes) == 2u); // 261 / 190.5 = 1.37
  even.batch = Bytes{1'000'000};       // ten: 401 / 190.5 = 2.1
  CHECK(even.copy_from(kBytes) == 3u);
  even.batch = {}; // one service for all: 221 / 190.5 = 1.16
  CHECK(even.move_in(kBytes) == 221'000_ns);
}

TEST_CASE("where home is no faster it never pays") {
  BreakEven even = machine();
  even.remote = even.local;
  CHECK_FALSE(even.copy_from(kBytes).has_value());
  CHECK_FALSE(even.migrate_from(kBytes).has_value());
}
