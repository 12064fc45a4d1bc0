#include "hw/cxl/cxl_device.h"
#include "hw/hbm/hbm.h"
#include "model/base/json.h"

#include <catch2/catch.hpp>

/// What a tier's parts can carry, and the refusal of more.
namespace umf::test {

using Catch::Matchers::Contains;

TEST_CASE("HBM peak: stacks of 1024 bits at the standard's fastest pin") {
  struct Row {
    hw::HbmStandard standard;
    double gigabytes; ///< of one stack
  };
  const Row row = GENERATE(Row{hw::HbmStandard::hbm2, 307.2}, Row{hw::HbmStandard::hbm2e, 460.8},
                           Row{hw::HbmStandard::hbm3, 819.2}, Row{hw::HbmStandard::hbm3e, 1254.4});
  hw::HbmConfig config;
  config.standard = row.standard;
  config.stacks = 5;
  CHECK(hw::hbm_peak(config).value / 1e9 == Approx(5 * row.gigabytes));
}

TEST_CASE("CXL media peak: 64-bit channels at the standard's rate") {
  struct Row {
    hw::DdrStandard media;
    double gigabytes; ///< of one channel
  };
  const Row row =
      GENERATE(Row{hw::DdrStandard::ddr5_4800, 38.4}, Row{hw::DdrStandard::ddr5_5600, 44.8},
               Row{hw::DdrStandard::ddr5_6400, 51.2});
  hw::CxlDeviceConfig config;
  config.media = row.media;
  config.channels = 8;
  CHECK(hw::cxl_media_peak(config).value / 1e9 == Approx(8 * row.gigabytes));
}

namespace {

template <class Config>
std::string fault(const Component<Config>& keys,
                  void (*check)(const Config&, const std::string&, KeyContext&),
                  const std::string& text) {
  KeyContext context;
  const JsonValue object = parse_json(text, "f");
  const Config config = keys.read(object, context);
  check(config, object.place().pointer, context);
  try {
    context.throw_if_faulty();
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

std::string hbm_fault(const std::string& text) {
  return fault(hw::hbm_component(), hw::check_hbm, text);
}

std::string cxl_fault(const std::string& text) {
  return fault(hw::cxl_device_component(), hw::check_cxl_device, text);
}

} // namespace

TEST_CASE("HBM faster than its pins is refused with the bound") {
  CHECK_THAT(hbm_fault(R"({"stacks": 4, "bandwidth": "3.35TB/s"})"),
             Contains("3350GB/s is more than 4 stack(s)") && Contains("3276.8GB/s"));
  CHECK(hbm_fault(R"({"stacks": 5, "bandwidth": "3.35TB/s"})") == "");
  CHECK(hbm_fault(R"({"stacks": 4, "bandwidth": {"value": "3.35TB/s", "override": true}})") == "");
  CHECK(hbm_fault(R"({"stacks": 4})") == "");
}

TEST_CASE("CXL media faster than its channels is refused with the bound") {
  CHECK_THAT(cxl_fault(R"({"channels": 7, "bandwidth": "400GB/s"})"),
             Contains("400GB/s is more than 7 channel(s)") && Contains("358.4GB/s"));
  CHECK(cxl_fault(R"({"channels": 8, "bandwidth": "400GB/s"})") == "");
}

TEST_CASE("figures outside their range are refused") {
  CHECK_THAT(hbm_fault(R"({"stacks": 0})"), Contains("stacks"));
  CHECK_THAT(hbm_fault(R"({"read_efficiency": 1.01})"), Contains("read_efficiency"));
  CHECK_THAT(cxl_fault(R"({"channels": 65})"), Contains("channels"));
}

} // namespace umf::test
