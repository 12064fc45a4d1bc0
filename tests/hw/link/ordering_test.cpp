#include "tests/hw/link/bench_top.h"

#include <catch2/catch.hpp>

#include <map>

/// Who may pass whom (PCIe base specification, ordering rules summary).
namespace umf::test {

using namespace hw::link;

namespace {

/// When each transaction, named by its tag, was done.
std::map<std::uint64_t, Femtoseconds> play(Network& network) {
  std::map<std::uint64_t, Femtoseconds> done;
  network.advance(Femtoseconds{1'000'000'000'000});
  for (const Finished& finished : network.finished())
    done[finished.tag] = finished.done;
  network.finished().clear();
  network.prove_idle();
  return done;
}

/// Memory that serves one request of a kind at a time, a microsecond each.
MemoryOptions slow() {
  MemoryOptions options = plain_memory(1000_ns);
  options.queue = 1;
  return options;
}

} // namespace

TEST_CASE("a posted write passes a blocked read") {
  PcieConfig config = plain_pcie();
  config.credits.request_headers = 1;
  Pair pair(link_options(config, "l"), {}, slow());
  for (std::uint64_t i = 0; i < 4; ++i)
    pair.network.submit({pair.asker, pair.memory, 64 * i, 64, false, i});
  pair.network.submit({pair.asker, pair.memory, 4096, 64, true, 9});
  auto done = play(pair.network);
  CHECK(done.size() == 5);
  CHECK(done[9] < done[1]); // the second read waits for the first; the write for neither
}

TEST_CASE("a read never passes an earlier posted write") {
  PcieConfig config = plain_pcie();
  config.credits.posted_headers = 1;
  LinkOptions link = link_options(config, "l");
  const bool ordered = GENERATE(true, false);
  link.ordered = ordered;
  Pair pair(link, {}, slow());
  for (std::uint64_t i = 0; i < 4; ++i)
    pair.network.submit({pair.asker, pair.memory, 64 * i, 64, true, i});
  pair.network.submit({pair.asker, pair.memory, 4096, 64, false, 9});
  auto done = play(pair.network);
  // The fourth write is taken in when the third is done; only then the read may leave.
  if (ordered)
    CHECK(done[9] > done[2]);
  else
    CHECK(done[9] < done[1]);
}

TEST_CASE("a completion waits behind a posted write unless it is relaxed") {
  const bool relaxed = GENERATE(false, true);
  PcieConfig config = plain_pcie();
  config.credits.posted_headers = 1;
  Network network;
  NodeOptions gpu, host;
  gpu.requester = host.requester = RequesterOptions{};
  gpu.requester->relaxed = relaxed;
  gpu.memory = slow();
  host.memory = plain_memory(10_ns);
  const NodeId g = network.add(gpu), h = network.add(host);
  network.connect(g, h, link_options(config, "l"));
  for (std::uint64_t i = 0; i < 4; ++i) // the host writes to the GPU, which is slow
    network.submit({h, g, 64 * i, 64, true, i});
  network.submit({g, h, 0, 64, false, 9});
  auto done = play(network);
  if (relaxed)
    CHECK(done[9] < done[0]);
  else
    CHECK(done[9] >
          done[1]); // the fourth write leaves once the second is done and the third taken in
}

TEST_CASE("writes that are answered and reads of CXL.mem do not wait for one another") {
  CxlConfig config;
  config.data_credits = 1;
  Pair pair(link_options(config, "l"), cxl_master(16), slow());
  for (std::uint64_t i = 0; i < 4; ++i)
    pair.network.submit({pair.asker, pair.memory, 64 * i, 64, true, i});
  pair.network.submit({pair.asker, pair.memory, 4096, 64, false, 9});
  auto done = play(pair.network);
  CHECK(done[9] < done[1]);
}

} // namespace umf::test
