#include "hw/link/generation.h"
#include "hw/pcie/pcie.h"
#include "model/base/json.h"

#include <catch2/catch.hpp>

/// Rates and wire bytes of PCIe, against the base specification's figures.
namespace umf::test {

using Catch::Matchers::Contains;

TEST_CASE("rate of x16 for TLPs, one way, after the line code or flits") {
  struct Row {
    std::uint32_t generation;
    double gigabytes;
  };
  const Row row = GENERATE(Row{1, 4.0}, Row{2, 8.0}, Row{3, 15.75}, Row{4, 31.51}, Row{5, 63.02},
                           Row{6, 118.0}); // 128 x 236/256
  CHECK(hw::link::tlp_rate(row.generation, 16).value / 1e9 ==
        Approx(row.gigabytes).epsilon(0.0005));
  CHECK(hw::link::WireRate::pcie(row.generation, 16).rate().value ==
        Approx(hw::link::tlp_rate(row.generation, 16).value).epsilon(1e-9));
  CHECK(hw::link::tlp_rate(row.generation, 8).value * 2 ==
        hw::link::tlp_rate(row.generation, 16).value);
}

TEST_CASE("a link is as fast as line resolution's: with skips, flits and what rides in them") {
  hw::PcieLinkConfig config;
  CHECK(hw::pcie_link(config, "l").raw_bytes_per_second ==
        Approx(63.015e9 * 374 / 375).epsilon(1e-4)); // one skip ordered set in 375 blocks
  config.generation = 6;
  CHECK(hw::pcie_wire_cost(config).write_control == 0); // DLLPs have their place in the flit
  CHECK(hw::pcie_wire_cost(config).write_tx == Approx(272.0 / 256)); // no framing: 24 - 8 B
}

TEST_CASE("a write of MPS bytes carries 24 B of overhead: P / (P + 24)") {
  struct Row {
    std::uint64_t payload;
    double efficiency;
  };
  const Row row = GENERATE(Row{128, 0.842}, Row{256, 0.914}, Row{512, 0.955});
  hw::PcieLinkConfig config;
  config.max_payload = {row.payload};
  CHECK(1 / hw::pcie_wire_cost(config).write_tx == Approx(row.efficiency).epsilon(0.001));
  CHECK(hw::pcie_wire_cost(config).write_rx == 0); // posted
}

// Each TLP is answered over the other direction by a third of an ACK and of an update, 8 B each.
constexpr double kAnswer = 16.0 / 3;

TEST_CASE("a read asks by MRRS and is completed by MPS, 24 and 20 B of overhead") {
  hw::PcieLinkConfig config;
  const auto cost = hw::pcie_wire_cost(config);
  CHECK(cost.read_tx == Approx((24.0 + 2 * kAnswer) / 512)); // answers two completions
  CHECK(cost.read_rx == Approx((2 * 276.0 + kAnswer) / 512));
  CHECK(cost.write_control == Approx(kAnswer / 256));

  config.max_read_request = {128}; // completions are no longer than what was asked
  CHECK(hw::pcie_wire_cost(config).read_rx == Approx((148.0 + kAnswer) / 128));
}

TEST_CASE("a short transfer has a header all the same, and holds a tag") {
  struct Row {
    double bytes, read_rx, write_tx, held; ///< on the wire; of tags, by bytes they could ask for
  };
  const Row row = GENERATE(Row{64, 84 + kAnswer, 88, 512}, Row{256, 276 + kAnswer, 280, 512},
                           // A request and two packets, a full one and one of 44 B.
                           Row{300, 340 + kAnswer, 348, 512},
                           Row{576, 576 + 3 * 20 + 2 * kAnswer, 576 + 3 * 24, 1024},
                           Row{61, 84 + kAnswer, 88, 512}); // whole words of 4 B
  const hw::PcieLinkConfig config;
  const auto cost = hw::pcie_wire_cost(config, row.bytes);
  CHECK(cost.read_rx * row.bytes == Approx(row.read_rx));
  CHECK(cost.write_tx * row.bytes == Approx(row.write_tx));
  CHECK(hw::pcie_link(config, "l").shape.held(row.bytes) * row.bytes == Approx(row.held));
}

TEST_CASE("copies measured on real links lie within 3 % of the model") {
  struct Row {
    std::uint32_t generation;
    std::uint64_t payload;
    double measured;
  };
  // Facts: GPU copies of Gen4 and Gen5; scenarios/links has what MPS says of each.
  const Row row = GENERATE(Row{4, 128, 26.2e9}, Row{5, 256, 56.4e9});
  hw::PcieLinkConfig config;
  config.generation = row.generation;
  config.max_payload = {row.payload};
  CHECK(hw::pcie_read_bound(config).value == Approx(row.measured).epsilon(0.03));
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
  CHECK(options.raw_bytes_per_second / options.shape.cost().read_rx == Approx(20e9));
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
             Contains("400GB/s asked of 1 PCIe Gen5 x16") && Contains("57.7 GB/s") &&
                 Contains("\"count\": 7"));
  CHECK(fault(ends + R"("bandwidth": "57GB/s"})") == "");
  CHECK(fault(ends + R"("bandwidth": {"value": "400GB/s", "override": true}})") == "");
  CHECK(fault(ends + R"("bandwidth": "400GB/s", "count": 7})") == "");
}

} // namespace umf::test
