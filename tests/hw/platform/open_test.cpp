#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Open and hybrid replay on the machine. Kernels of 1e9 FLOP take 10 µs and `start` before.
namespace umf::test {

using hw::Cause;
using F = Figures;

namespace {

constexpr double kFlops = 1e9;
constexpr stream::StreamId kA{0, 1}, kB{0, 2};
/// From ready to done: 1.5 µs + 10 µs.
constexpr Femtoseconds kKernel = F::start + 10'000_ns;

stream::Kernel issued(stream::KernelId id, std::int64_t ns, stream::StreamId on = kA) {
  stream::Kernel k = kernel(id, {}, kFlops, on);
  k.issue_ns = ns;
  return k;
}

stream::Sync host_wait(std::int64_t start_ns, std::int64_t end_ns) {
  stream::Sync sync;
  sync.waiting = kA;
  sync.awaited = kA;
  sync.host_waits = true;
  sync.start_ns = start_ns;
  sync.end_ns = end_ns;
  return sync;
}

const char* const kOpen = R"({"replay": {"mode": "open"}})";
const char* const kHybrid = R"({"replay": {"mode": "hybrid"}})";

} // namespace

TEST_CASE("open: a late call leaves the machine idle, an early one waits for its stream") {
  const Outcome run = replay(machine(kOpen), {issued(1, 500), issued(2, 2'500), issued(3, 60'500)});
  CHECK(run[0].ready == 0_ns);
  CHECK(run[1].ready == run[0].end); // called after 2 µs, when the first still runs
  CHECK(run[2].ready == 60'000_ns);
  CHECK(distance(run.makespan, 60'000_ns + kKernel) <= kRounding);
  const auto& causes = run.platform->gpu(0).causes();
  CHECK(distance(causes.of(Cause::idle), 60'000_ns - kKernel * 2) <= kRounding);
  CHECK(causes.total() == run.makespan);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("open: without calls the kernels are resident at their recorded starts") {
  stream::Kernel first = kernel(1, {}, kFlops, kA), second = kernel(2, {}, kFlops, kB);
  first.start_ns = 7'000;
  second.start_ns = 27'000;
  second.launch = stream::Launch::programmatic; // a shorter launch ends at its start as well
  const Outcome run = replay(machine(kOpen), {first, second});
  CHECK(run[0].start == F::launch);
  CHECK(run[1].start == F::launch + 20'000_ns);
}

TEST_CASE("open: host waits and stream waits still hold") {
  const Outcome run = replay(machine(kOpen), {issued(1, 0), host_wait(10, 20), issued(2, 30, kB)});
  CHECK(run[1].ready == run[0].end);
}

TEST_CASE("hybrid: the host goes on when this machine is done, then works as recorded") {
  // The recorded device took until 101 µs; the host worked 5 µs before the next call.
  const Outcome run = replay(machine(kHybrid), {issued(1, 0), host_wait(1'000, 101'000),
                                                issued(2, 106'000, kB), issued(3, 109'000, kB)});
  CHECK(run[1].ready == run[0].end + 5'000_ns);
  // The third is called 3 µs later and waits for the second.
  CHECK(run[2].ready == run[1].end);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("hybrid: a wait for what is done already costs nothing") {
  // The host comes to the wait after 30 µs; the kernel was done after 11.5 µs.
  const Outcome run =
      replay(machine(kHybrid), {issued(1, 0), host_wait(30'000, 31'000), issued(2, 36'000)});
  CHECK(run[1].ready == 35'000_ns); // 30 µs, and 5 µs behind the wait
}

TEST_CASE("hybrid: a host that is ahead of the machine is not held back") {
  const Outcome run = replay(machine(kHybrid), {issued(1, 0), issued(2, 50, kB)});
  CHECK(run[1].ready == 50_ns);
}

TEST_CASE("hybrid: how far the trace is read ahead changes nothing") {
  const std::string patch = both(kHybrid, R"({"replay": {"read_ahead": 2}})");
  const Outcome run = replay(machine(patch), {issued(1, 0), host_wait(1'000, 101'000),
                                              issued(2, 106'000, kB), issued(3, 109'000, kA)});
  CHECK(run[1].ready == run[0].end + 5'000_ns);
  CHECK(run[2].ready == run[0].end + 8'000_ns);
}

} // namespace umf::test
