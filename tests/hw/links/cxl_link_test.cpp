#include "hw/cxl/cxl_link.h"

#include <catch2/catch.hpp>

/// CXL.mem in slots of 16 B (CXL 2.0, 4.2): what a 64 B line costs on each direction.
namespace umf::test {

TEST_CASE("68 B flits: reads at 83.7 %, writes at 75.3 % of the wire") {
  const auto cost = hw::cxl_wire_cost({});
  CHECK(1 / cost.read_rx == Approx(0.837).epsilon(0.0005));  // 9 slots for 2 lines
  CHECK(1 / cost.write_tx == Approx(0.753).epsilon(0.0005)); // 5 slots a line
  CHECK(cost.read_tx * 64 == Approx(17));                    // one slot: 16 B × 68/64
  CHECK(cost.write_rx * 64 == Approx(8.5));                  // two responses a slot
}

TEST_CASE("payload rates of 68 B flits on Gen5") {
  struct Row {
    std::uint32_t width;
    double read, write;
  };
  const Row row = GENERATE(Row{16, 52.7, 47.4}, Row{8, 26.4, 23.7});
  hw::CxlLinkConfig config;
  config.width = row.width;
  const double raw = hw::cxl_link(config, "l").raw_bytes_per_second;
  CHECK(hw::cxl_read_bound(config).value / 1e9 == Approx(row.read).epsilon(0.002));
  CHECK(raw / hw::cxl_wire_cost(config).write_tx / 1e9 == Approx(row.write).epsilon(0.002));
}

TEST_CASE("256 B flits: 15 slots of 16, so 93.75 % of the wire before headers") {
  hw::CxlLinkConfig config;
  config.flit = hw::link::FlitSize::b256;
  const auto cost = hw::cxl_wire_cost(config);
  CHECK(1 / cost.read_rx == Approx(0.9375 * 4 / 4.5));
  CHECK(1 / cost.write_tx == Approx(0.9375 * 4 / 5));
}

TEST_CASE("CXL moves whole lines: a byte costs as much as 64") {
  const auto line = hw::cxl_wire_cost({}, 64), byte = hw::cxl_wire_cost({}, 1);
  CHECK(byte.read_rx == Approx(64 * line.read_rx));
  CHECK(byte.write_tx == Approx(64 * line.write_tx));
}

TEST_CASE("every write is answered, and reads are bounded by lines outstanding") {
  hw::CxlLinkConfig config;
  config.count = 2;
  config.outstanding_reads = 256;
  const auto options = hw::cxl_link(config, "l");
  CHECK_FALSE(options.posted_writes);
  CHECK(options.read_window_bytes == 2 * 256 * 64.0);
}

} // namespace umf::test
