#include "hw/link/measure.h"
#include "tests/hw/link/bench_top.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <algorithm>

/// Switches, root complexes, and what they do to traffic.
namespace umf::test {

using namespace hw::link;

namespace {

/// Endpoints that ask and hold data, a switch, a root complex with host memory above it.
struct Tree {
  explicit Tree(const SwitchConfig& sw, const SwitchConfig& root, const LinkOptions& link,
                std::uint32_t ends = 2, MemoryOptions memory = plain_memory(),
                RequesterOptions requester = {}) {
    NodeOptions host_options, switch_options;
    host_options.name = "root";
    host_options.forward = forward_options(root);
    host_options.memory = plain_memory();
    switch_options.name = "switch";
    switch_options.forward = forward_options(sw);
    host = network.add(host_options);
    middle = network.add(switch_options);
    network.connect(middle, host, link); // the first link leads up
    for (std::uint32_t i = 0; i < ends; ++i) {
      NodeOptions end;
      end.name = "gpu";
      end.requester = requester;
      end.memory = memory;
      gpus.push_back(network.add(end));
      network.connect(gpus.back(), middle, link);
    }
  }
  Load load(std::size_t from, NodeId to, bool write, std::uint64_t size, std::uint32_t outstanding,
            std::uint64_t transactions) const {
    Load load;
    load.from = gpus[from];
    load.targets = {to};
    load.size = {size};
    load.writes = write ? 1 : 0;
    load.outstanding = outstanding;
    load.transactions = transactions;
    return load;
  }
  Driven run(std::vector<Load> loads) {
    Drive how;
    how.loads = std::move(loads);
    return drive(network, how);
  }
  Femtoseconds alone(NodeId from, NodeId to, std::uint32_t bytes, bool write) {
    network.submit({from, to, 0, bytes, write, 0});
    network.advance_to_finish(kNever);
    const Femtoseconds took = network.finished().at(0).done - network.finished().at(0).begun;
    network.finished().clear();
    while (network.next() < kNever)
      network.advance(network.next());
    network.prove_idle();
    return took;
  }

  Network network;
  NodeId host, middle;
  std::vector<NodeId> gpus;
};

const LinkOptions kGen5 = link_options(plain_pcie(), "l");

} // namespace

TEST_CASE("a cut-through switch adds its latency, a flight and the first 16 bytes, each way") {
  const SwitchConfig sw;
  Tree tree(sw, {}, kGen5);
  const WireRate wire = WireRate::pcie(5, 16);
  const std::int64_t hop = wire.time(16).count + sw.latency.count + kGen5.latency.count;
  CHECK(tree.alone(tree.gpus[0], tree.host, 256, false).count ==
        wire.time(24).count + wire.time(276).count + 2 * kGen5.latency.count +
            from_nanoseconds(90).count + 2 * hop);
}

TEST_CASE("a wider way out of a switch waits for what comes in, rather than run dry") {
  Network network;
  NodeOptions asker, sw, memory;
  asker.requester = RequesterOptions{};
  sw.forward = forward_options({});
  memory.memory = plain_memory(Femtoseconds{});
  const NodeId a = network.add(asker), s = network.add(sw), m = network.add(memory);
  network.connect(a, s, link_options(plain_pcie(3, 4), "slow"));
  network.connect(s, m, link_options(plain_pcie(5, 16), "fast"));
  network.submit({a, m, 0, 256, true, 0});
  network.advance_to_finish(kNever);
  // Sent slowly once; the fast wire ends with it.
  CHECK(network.finished().at(0).done.count == WireRate::pcie(3, 4).time(280).count +
                                                   2 * kGen5.latency.count +
                                                   SwitchConfig{}.latency.count);
}

TEST_CASE("ports share a way out equally, or by weight") {
  struct Row {
    Arbitration arbitration;
    std::vector<std::uint32_t> weights;
    double ratio;
  };
  const Row row =
      GENERATE(Row{Arbitration::round_robin, {}, 1.0}, Row{Arbitration::weighted, {1, 3, 1}, 3.0});
  SwitchConfig sw;
  sw.arbitration = row.arbitration;
  sw.weights = row.weights;
  Tree tree(sw, {}, kGen5);
  const Driven driven = tree.run({tree.load(0, tree.host, true, 4096, 32, 2000),
                                  tree.load(1, tree.host, true, 4096, 32, 2000)});
  const double first = driven.loads[0].write_rate.value, second = driven.loads[1].write_rate.value;
  CHECK(first / second == Approx(row.ratio).epsilon(0.02));
  CHECK(first + second == Approx(63.015e9 * 256 / 280).epsilon(0.01)); // one link up
}

TEST_CASE("small reads suffer beside large ones that share a way out") {
  Tree alone({}, {}, kGen5), beside({}, {}, kGen5);
  const Driven quiet = alone.run({alone.load(0, alone.host, false, 64, 1, 500)});
  const Driven loud = beside.run({beside.load(0, beside.host, false, 64, 1, 500),
                                  beside.load(1, beside.host, false, 4096, 64, 500)});
  CHECK(loud.loads[0].read_port.mean() > 3 * quiet.loads[0].read_port.mean());
}

TEST_CASE("deep buffers behind a shared way out hold a lone line up, shallow ones do not") {
  const auto lone_line = [](const char* lines) {
    const std::string n = lines;
    const Shared shared =
        beside(read_path_file(source_file("scenarios/links/memchannel-pool.json").string(),
                              {"requesters=2", "links=1", "devices=1", "requester.read_tags=2048",
                               "device_link.request_credits=" + n, "device_link.data_credits=2048",
                               "memory.queue=" + n}),
               {.blocks = 16});
    return shared.nanoseconds / shared.alone_nanoseconds;
  };
  // The other host has 1024 lines in flight, of which so many are past the switch; there the lone
  // line goes first, behind it they are in its way: at 26.4 GB/s 32 of them take 78 ns.
  CHECK(lone_line("32") < 2.5);
  CHECK(lone_line("1024") > 2 * lone_line("32"));
}

TEST_CASE("ACS sends what goes from port to port by way of the root complex") {
  SwitchConfig direct, redirect;
  redirect.acs_redirect = true;
  Tree straight(direct, {}, kGen5), around(redirect, {}, kGen5);
  const Femtoseconds near = straight.alone(straight.gpus[0], straight.gpus[1], 64, true);
  const Femtoseconds far = around.alone(around.gpus[0], around.gpus[1], 64, true);
  // Up and down again: two flights, the root complex and the switch once more, two heads.
  const std::int64_t hop = WireRate::pcie(5, 16).time(16).count + kGen5.latency.count;
  CHECK(far.count - near.count == 2 * hop + 2 * SwitchConfig{}.latency.count);
  CHECK(around.network.forwarded(around.middle).redirected == 1);
  CHECK(straight.network.forwarded(straight.middle).redirected == 0);
  CHECK(straight.network.statistics(0).packets_in == 0); // the link up
  // To the host it makes no difference.
  CHECK(straight.alone(straight.gpus[0], straight.host, 64, false) ==
        around.alone(around.gpus[0], around.host, 64, false));
}

TEST_CASE("a root complex lets so much through from port to port") {
  SwitchConfig root;
  root.rc_p2p_limit = BytesPerSecond{10e9};
  SwitchConfig redirect;
  redirect.acs_redirect = true;
  Tree tree(redirect, root, kGen5);
  const Driven driven = tree.run({tree.load(0, tree.gpus[1], true, 4096, 32, 2000)});
  CHECK(driven.loads[0].write_rate.value == Approx(10e9).epsilon(0.02));
  // Host memory is no peer.
  Tree host(redirect, root, kGen5);
  const Driven up = host.run({host.load(0, host.host, true, 4096, 32, 2000)});
  CHECK(up.loads[0].write_rate.value > 50e9);
}

TEST_CASE("peer to peer beats a bounce through host memory, in rate and latency") {
  Tree tree({}, {}, kGen5), bounce({}, {}, kGen5);
  const Driven direct = tree.run({tree.load(0, tree.gpus[1], true, 65536, 1, 200)});
  Load through = bounce.load(0, bounce.host, true, 65536, 1, 200);
  through.read_by = bounce.gpus[1];
  through.between = from_nanoseconds(2000);
  const Driven stored = bounce.run({through});
  const double peer = direct.loads[0].write_rate.value, copied = stored.loads[0].read_rate.value;
  CHECK(peer > 2 * copied);
  // One transaction at a time: write, software, read.
  CHECK(65536 / copied > 65536 / peer + 2e-6);
}

TEST_CASE("a sleeping link is woken once") {
  PcieConfig config = plain_pcie();
  config.sleep_after = from_nanoseconds(1000);
  config.wake_time = from_nanoseconds(8000);
  Pair pair(link_options(config, "l"), {}, plain_memory());
  const Femtoseconds awake = pair.alone(0, 64, false);
  pair.network.advance(pair.network.now() + from_nanoseconds(5000));
  const Femtoseconds asleep = pair.alone(0, 64, false);
  CHECK(asleep - awake == config.wake_time);
  CHECK(pair.network.statistics(Pair::tx).wakes == 1);
  CHECK(pair.network.statistics(Pair::rx).wakes == 0);
}

TEST_CASE("an IOMMU that misses is bounded by its walkers") {
  SwitchConfig root;
  root.iommu.entries = 64;
  root.iommu.walkers = 4;
  root.iommu.walk_latency = 400_ns;
  const std::uint64_t pages = GENERATE(32U, 100'000U);
  Network network;
  NodeOptions gpu, host;
  gpu.requester = RequesterOptions{};
  host.forward = forward_options(root);
  host.memory = plain_memory();
  const NodeId g = network.add(gpu), h = network.add(host);
  network.connect(g, h, kGen5);
  Drive how;
  Load load;
  load.from = g;
  load.targets = {h};
  load.size = {256};
  load.stride = {4096};
  load.footprint = {4096 * pages};
  load.outstanding = 256;
  load.transactions = 20'000;
  how.loads = {load};
  const Driven driven = drive(network, how);
  const ForwardStatistics& s = network.forwarded(h);
  if (pages == 32) {
    CHECK(s.translation_misses == 32);
    CHECK(driven.loads[0].read_rate.value > 40e9);
  } else {
    CHECK(s.translation_misses == s.translations);
    CHECK(driven.loads[0].read_rate.value == Approx(256 * 4 / 400e-9).epsilon(0.02));
  }
}

TEST_CASE("a device that asks ahead (ATS) waits for translations before it sends") {
  RequesterConfig requester;
  requester.translation.entries = 16;
  requester.translation.walkers = 2;
  requester.translation.walk_latency = 1000_ns;
  Pair pair(kGen5, requester_options(requester), plain_memory());
  Load load = pair.load(false, 4096, 64, 4000);
  load.random = true;
  const Driven driven = pair.run({load});
  CHECK(driven.loads[0].read_rate.value == Approx(4096 * 2 / 1000e-9).epsilon(0.03));
  CHECK(driven.limit == Limit::translation);
}

TEST_CASE("PCIe reads of a CXL device: lines beyond a bridge that asks as a CXL.mem master") {
  Network network;
  NodeOptions gpu, bridge, device;
  gpu.requester = RequesterOptions{};
  bridge.requester = cxl_master(512);
  bridge.memory = plain_memory();
  bridge.memory->behind = {2, 3};
  device.memory = plain_memory(150_ns);
  const NodeId g = network.add(gpu), b = network.add(bridge);
  const NodeId d0 = network.add(device), d1 = network.add(device);
  network.connect(g, b, kGen5);
  CxlConfig cxl;
  cxl.width = 8;
  network.connect(b, d0, link_options(cxl, "d0"));
  network.connect(b, d1, link_options(cxl, "d1"));
  Drive how;
  Load load;
  load.from = g;
  load.targets = {b};
  load.transactions = 2000;
  how.loads = {load};
  const Driven driven = drive(network, how);
  // Two x8 CXL links carry 52.7 GB/s of reads together, one PCIe x16 57.7.
  CHECK(driven.loads[0].read_rate.value == Approx(52.7e9).epsilon(0.02));
  CHECK(network.memory(d0).read_bytes == network.memory(d1).read_bytes);
}

} // namespace umf::test
