#include "hw/nvlink/nvlink_link.h"

#include <catch2/catch.hpp>

/// NVLink in packets: what a byte of data costs on each direction.
namespace umf::test {

TEST_CASE("NVLink packets of 128 B carry 80 % of the wire, of 256 B 88.9 %") {
  struct Row {
    std::uint64_t payload;
    double share;
  };
  const Row row = GENERATE(Row{128, 0.8}, Row{256, 8.0 / 9}); // 32 B of overhead
  hw::NvlinkLinkConfig config;
  config.payload = {row.payload};
  const hw::link::WireCost cost = hw::nvlink_wire_cost(config);
  CHECK(1 / cost.read_rx == Approx(row.share));
  CHECK(1 / cost.write_tx == Approx(row.share));
  CHECK(cost.read_tx * static_cast<double>(row.payload) == Approx(32)); // a request has no data
  CHECK(cost.write_rx == 0);                                            // posted
  // 18 links of 25 GB/s.
  CHECK(hw::nvlink_read_bound(config).value == Approx(18 * 25e9 * row.share));
}

TEST_CASE("reads over NVLink are bounded by the packets in flight on all links") {
  hw::NvlinkLinkConfig config;
  config.count = 12;
  config.outstanding_reads = 64;
  const hw::Link::Options options = hw::nvlink_link(config, "l");
  CHECK(options.read_window_bytes == 12 * 64 * 128.0);
  CHECK(options.posted_writes);
}

} // namespace umf::test
