#include "tests/hw/link/bench_top.h"

#include "model/base/random.h"

#include <catch2/catch.hpp>

/// Random trees with few credits, errors and trainings: everything finishes, every byte that goes
/// into a link comes out, every credit comes back.
namespace umf::test {

using namespace hw::link;

namespace {

class Draw {
public:
  explicit Draw(std::uint64_t seed) : stream_(seed, "link property") {}
  std::uint32_t in(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(stream_.next_below(most - least + 1));
  }
  bool one_in(std::uint32_t n) { return in(1, n) == 1; }

private:
  RandomStream stream_;
};

LinkOptions pcie(Draw& draw) {
  PcieConfig config;
  config.generation = draw.in(1, 6);
  config.width = 1U << draw.in(0, 4);
  config.latency = from_nanoseconds(draw.in(0, 200));
  config.credits.posted_headers = draw.in(1, 8);
  config.credits.posted_data = draw.in(16, 64); // at least one packet of 256 B
  config.credits.request_headers = draw.in(1, 8);
  config.credits.completion_headers = draw.in(1, 8);
  config.credits.completion_data = draw.in(16, 64);
  config.ack_every = draw.in(1, 4);
  config.update_every = draw.in(1, 4);
  config.replay_buffer = Bytes{draw.in(512, 4096)};
  config.sleep_after = from_nanoseconds(draw.one_in(4) ? 500 : 0);
  config.wake_time = from_nanoseconds(1000);
  config.recovery = from_nanoseconds(draw.in(0, 5000));
  if (draw.one_in(2)) config.bit_error_rate = 1e-5;
  if (draw.one_in(4)) {
    config.errors_to_degrade = draw.in(1, 5);
    config.degraded_for = from_nanoseconds(draw.in(0, 20'000));
  }
  return link_options(config, "pcie");
}

LinkOptions cxl(Draw& draw) {
  CxlConfig config;
  config.width = 1U << draw.in(0, 4);
  config.flit = draw.one_in(2) ? FlitSize::b68 : FlitSize::b256;
  config.request_credits = draw.in(1, 8);
  config.data_credits = draw.in(1, 8);
  config.response_credits = draw.in(1, 8);
  config.credit_threshold = draw.in(1, 16);
  config.retry_flits = draw.in(8, 32);
  if (draw.one_in(2)) config.bit_error_rate = 1e-5;
  return link_options(config, "cxl");
}

} // namespace

TEST_CASE("whatever the tree and the traffic, all of it arrives and nothing is left") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 61)));
  INFO("seed " << seed);
  Draw draw(seed);
  const bool lines = draw.one_in(3);
  Network network(seed);
  // A root with memory; each further node hangs on an earlier one that passes on.
  std::vector<NodeId> inner, ends;
  NodeOptions root;
  root.forward = ForwardOptions{.latency = from_nanoseconds(draw.in(0, 150))};
  root.memory = plain_memory(from_nanoseconds(draw.in(0, 200)));
  root.memory->queue = draw.in(1, 8);
  inner.push_back(network.add(root));
  ends.push_back(inner[0]);
  const std::uint32_t nodes = draw.in(2, 8);
  std::vector<NodeId> askers;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    NodeOptions node;
    const bool middle = n > 0 && draw.one_in(3);
    if (middle) {
      node.forward = ForwardOptions{.latency = from_nanoseconds(draw.in(0, 150))};
      if (draw.one_in(2)) node.forward->arbitration = Arbitration::weighted;
      node.forward->weights = {draw.in(1, 4), draw.in(1, 4)};
      node.forward->redirect = draw.one_in(3);
      if (draw.one_in(3)) node.forward->translation = {8, Bytes{4096}, {}, 200_ns, 2};
    } else {
      node.requester = lines ? cxl_master(draw.in(1, 32)) : RequesterOptions{};
      if (!lines) {
        node.requester->tags = draw.in(1, 32);
        node.requester->relaxed = draw.one_in(2);
      }
      node.memory = plain_memory(from_nanoseconds(draw.in(0, 300)));
      node.memory->queue = draw.in(1, 8);
    }
    const NodeId id = network.add(node);
    const NodeId up = inner[draw.in(0, static_cast<std::uint32_t>(inner.size()) - 1)];
    const std::uint32_t links = middle ? 1 : draw.in(1, 2);
    for (std::uint32_t i = 0; i < links; ++i)
      network.connect(id, up, lines ? cxl(draw) : pcie(draw));
    (middle ? inner : ends).push_back(id);
    if (!middle) askers.push_back(id);
  }
  Drive how;
  for (const NodeId asker : askers)
    for (const bool write : {false, true}) {
      Load load;
      load.from = asker;
      for (const NodeId end : ends)
        if (end != asker && draw.one_in(2)) load.targets.push_back(end);
      if (load.targets.empty()) load.targets = {ends[0]};
      load.interleave = Bytes{4096};
      load.size = Bytes{lines ? 64U : draw.in(1, 1500)};
      load.random = draw.one_in(2);
      load.writes = write ? 1 : 0;
      load.period = draw.in(1, 3);
      load.outstanding = draw.in(1, 16);
      load.transactions = draw.in(20, 200);
      how.loads.push_back(load);
    }
  for (LinkId link = 0; !lines && link < network.links(); ++link)
    if (draw.one_in(4))
      how.trainings.push_back({link, from_nanoseconds(draw.in(0, 50'000)),
                               WireRate::pcie(draw.in(1, 5), 1U << draw.in(0, 4))});
  const Driven driven = drive(network, how); // proves that the network is idle
  std::uint64_t asked = 0, done = 0, held = 0, wrote = 0, read = 0;
  for (NodeId n = 0; n < network.nodes(); ++n)
    for (const bool write : {false, true}) {
      asked += network.requester(n, write).bytes_asked;
      done += network.requester(n, write).bytes_done;
      (write ? wrote : read) += network.requester(n, write).bytes_done;
    }
  for (NodeId n = 0; n < network.nodes(); ++n)
    held += network.memory(n).read_bytes + network.memory(n).written_bytes;
  CHECK(asked == done);
  CHECK(held == done);
  CHECK(wrote + read == done);
  CHECK(driven.elapsed.count > 0);
}

} // namespace umf::test
