#include "hw/cxl/cxl_link.h"
#include "hw/link/path.h"
#include "hw/pcie/pcie.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>

/// Burst resolution's formulas against line resolution where the wire binds: what full transactions
/// of one size get, reads and writes together.
namespace umf::test {

namespace line = hw::link;

namespace {

double carried(const line::LinkOptions& link, const line::RequesterOptions& requester,
               std::uint64_t size, std::uint32_t writes, std::uint32_t period) {
  line::Network network;
  line::NodeOptions asker, memory;
  asker.requester = requester;
  memory.memory = line::MemoryOptions{};
  memory.memory->max_payload = requester.max_payload;
  memory.memory->latency = 90_ns;
  memory.memory->queue = 4096;
  const auto a = network.add(asker), m = network.add(memory);
  network.connect(a, m, link);
  line::Load load;
  load.from = a;
  load.targets = {m};
  load.size = {size};
  load.writes = writes;
  load.period = period;
  // Twice what a round trip holds; more would be queues that fill and drain, which the window
  // shows.
  load.outstanding = std::max(64U, static_cast<std::uint32_t>(32'768 / size));
  load.transactions = std::max<std::uint64_t>(8000, 20'000 * 512 / size);
  line::Drive how;
  how.loads = {load};
  how.warm_up = 0.2;
  const line::Driven driven = line::drive(network, how);
  return driven.loads[0].read_rate.value + driven.loads[0].write_rate.value;
}

double formula(const hw::Link::Options& options, std::uint64_t size, double reads) {
  const line::WireCost cost = options.shape.cost(static_cast<double>(size));
  return options.raw_bytes_per_second /
         std::max(reads * cost.read_tx + (1 - reads) * cost.write_tx,
                  reads * cost.read_rx + (1 - reads) * (cost.write_rx + cost.write_control));
}

struct Mix {
  std::uint32_t writes, period;
};
constexpr Mix kMixes[] = {{0, 1}, {1, 3}, {1, 2}, {2, 3}, {1, 1}};

double compare(const char* link, std::uint64_t size, const Mix& mix, double at_line, double burst) {
  const double off = 100 * (at_line / burst - 1);
  std::printf("%-12s %5llu B  read share %.2f  line %6.2f  burst %6.2f GB/s  %+5.1f %%\n", link,
              static_cast<unsigned long long>(size), 1.0 - 1.0 * mix.writes / mix.period,
              at_line / 1e9, burst / 1e9, off);
  return off;
}

} // namespace

TEST_CASE("PCIe: burst resolution's formula lies within 1.5 % of line resolution from 64 B up") {
  const hw::PcieLinkConfig burst;
  line::RequesterConfig requester;
  requester.read_tags = 4096;
  for (const std::uint64_t size : {64U, 128U, 256U, 300U, 512U, 576U, 4096U})
    for (const Mix& mix : kMixes) {
      const double reads = 1.0 - 1.0 * mix.writes / mix.period;
      const double off =
          compare("PCIe Gen5", size, mix,
                  carried(line::link_options(line::PcieConfig{}, "l"),
                          line::requester_options(requester), size, mix.writes, mix.period),
                  formula(hw::pcie_link(burst, "l"), size, reads));
      CHECK(std::abs(off) < 1.5);
    }
}

TEST_CASE("CXL: burst resolution's slots lie within 2 % of line resolution's flits") {
  for (const Mix& mix : kMixes) {
    const double reads = 1.0 - 1.0 * mix.writes / mix.period;
    line::RequesterOptions requester;
    requester.max_payload = requester.max_read_request = 64;
    requester.tags = requester.write_tags = 512;
    line::CxlConfig config;
    config.data_credits = config.request_credits = config.response_credits = 256;
    const double off =
        compare("CXL 68 B", 64, mix,
                carried(line::link_options(config, "l"), requester, 64, mix.writes, mix.period),
                formula(hw::cxl_link({}, "l"), 64, reads));
    CHECK(std::abs(off) < 2);
  }
}

} // namespace umf::test
