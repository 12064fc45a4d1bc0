#include "hw/pcie/pcie.h"
#include "model/base/json.h"

#include <catch2/catch.hpp>

/// Rates and wire bytes of PCIe, against the base specification's figures.
namespace umf::test {

using Catch::Matchers::Contains;

TEST_CASE("raw rate of x16, one way, after the line code") {
  struct Row {
    std::uint32_t generation;
    double gigabytes;
  };
  const Row row = GENERATE(Row{1, 4.0}, Row{2, 8.0}, Row{3, 15.75}, Row{4, 31.51}, Row{5, 63.02},
                           Row{6, 121.0});
  CHECK(hw::pcie_raw_rate(row.generation, 16) / 1e9 == Approx(row.gigabytes).epsilon(0.0005));
  CHECK(hw::pcie_raw_rate(row.generation, 8) * 2 == hw::pcie_raw_rate(row.generation, 16));
}

TEST_CASE("a write of MPS bytes carries 24 B of overhead: P / (P + 24) before DLLPs") {
  struct Row {
    std::uint64_t payload;
    double efficiency;
  };
  const Row row = GENERATE(Row{128, 0.842}, Row{256, 0.914}, Row{512, 0.955});
  hw::PcieLinkConfig config;
  config.max_payload = {row.payload};
  config.dllp_overhead = 0;
  CHECK(1 / hw::pcie_wire_cost(config).write_tx == Approx(row.efficiency).epsilon(0.001));
  CHECK(hw::pcie_wire_cost(config).write_rx == 0); // posted
}

TEST_CASE("a read asks by MRRS and is completed by MPS, 20 B of overhead each") {
  hw::PcieLinkConfig config;
  config.dllp_overhead = 0;
  const auto cost = hw::pcie_wire_cost(config);
  CHECK(cost.read_tx == Approx(24.0 / 512));
  CHECK(cost.read_rx == Approx(276.0 / 256));

  config.max_read_request = {128}; // completions are no longer than what was asked
  CHECK(hw::pcie_wire_cost(config).read_rx == Approx(148.0 / 128));
}

TEST_CASE("DLLPs take their share of every direction") {
  hw::PcieLinkConfig config;
  config.dllp_overhead = 0.02;
  CHECK(hw::pcie_wire_cost(config).read_rx == Approx(276.0 / 256 / 0.98));
}

TEST_CASE("copies measured on real links lie within 8 % of the model") {
  struct Row {
    std::uint32_t generation;
    double measured;
  };
  // Facts: GPU copies, Gen3 12.4, Gen4 26.2, Gen5 56.4 GB/s; the first two at MPS 256.
  const Row row = GENERATE(Row{4, 26.2e9}, Row{5, 56.4e9});
  hw::PcieLinkConfig config;
  config.generation = row.generation;
  CHECK(hw::pcie_read_bound(config).value == Approx(row.measured).epsilon(0.1));
}

TEST_CASE("parallel links add their rates and their tags") {
  hw::PcieLinkConfig one, four;
  four.count = 4;
  CHECK(hw::pcie_link(four, "l").raw_bytes_per_second ==
        4 * hw::pcie_link(one, "l").raw_bytes_per_second);
  CHECK(hw::pcie_link(one, "l").read_window_bytes == 768.0 * 512);
  CHECK(hw::pcie_link(four, "l").read_window_bytes == 4 * 768.0 * 512);
}

TEST_CASE("a bandwidth that is asked for is what reads get") {
  hw::PcieLinkConfig config;
  config.bandwidth = BytesPerSecond{20e9};
  const auto options = hw::pcie_link(config, "l");
  CHECK(options.raw_bytes_per_second / options.cost.read_rx == Approx(20e9));
}

TEST_CASE("more bandwidth than the links carry is refused with the bound and the links it takes") {
  const auto fault = [](const std::string& text) -> std::string {
    KeyContext context;
    const JsonValue object = parse_json(text, "f");
    const auto config = hw::pcie_link_component().read(object, context);
    hw::check_link_bandwidth(config.bandwidth, hw::pcie_read_bound(config), config.count,
                             "PCIe Gen5 x16 link(s)", object.place().pointer, context);
    try {
      context.throw_if_faulty();
    } catch (const UserError& error) {
      return error.what();
    }
    return {};
  };
  const std::string ends = R"({"from": "gpu0", "to": "t", )";
  CHECK_THAT(fault(ends + R"("bandwidth": "400GB/s"})"),
             Contains("400GB/s asked of 1 PCIe Gen5 x16") && Contains("57.3 GB/s") &&
                 Contains("\"count\": 7"));
  CHECK(fault(ends + R"("bandwidth": "57GB/s"})") == "");
  CHECK(fault(ends + R"("bandwidth": {"value": "400GB/s", "override": true}})") == "");
  CHECK(fault(ends + R"("bandwidth": "400GB/s", "count": 7})") == "");
}

} // namespace umf::test
