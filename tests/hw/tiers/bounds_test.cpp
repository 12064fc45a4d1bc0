#include "hw/cxl/cxl_device.h"
#include "hw/hbm/hbm.h"
#include "model/base/json.h"

#include <catch2/catch.hpp>

/// What a tier's parts can carry, and the refusal of more.
namespace umf::test {

using Catch::Matchers::Contains;

TEST_CASE("HBM peak: stacks of 1024 bits at the standard's fastest pin") {
  struct Row {
    const char* standard;
    double gigabytes; ///< of one stack
  };
  const Row row =
      GENERATE(Row{"hbm2", 307.2}, Row{"hbm2e", 460.8}, Row{"hbm3", 819.2}, Row{"hbm3e", 1254.4});
  hw::HbmConfig config;
  config.stacks = 5;
  KeyContext context;
  const auto standard = hw::dram::Standards().find(row.standard, "", context);
  CHECK(hw::dram::fastest(hw::hbm_media(config, standard)).value / 1e9 ==
        Approx(5 * row.gigabytes).epsilon(1e-5));
}

TEST_CASE("CXL media peak: 64-bit channels at the standard's rate") {
  struct Row {
    const char* media;
    double gigabytes; ///< of one channel
  };
  const Row row = GENERATE(Row{"ddr5-4800", 38.4}, Row{"ddr5-5600", 44.8}, Row{"ddr5-6400", 51.2});
  hw::CxlDeviceConfig config;
  config.channels = 8;
  KeyContext context;
  const auto standard = hw::dram::Standards().find(row.media, "", context);
  CHECK(hw::dram::fastest(hw::cxl_media(config, standard)).value / 1e9 ==
        Approx(8 * row.gigabytes).epsilon(1e-5));
}

namespace {

template <class Config, class Check>
std::string fault(const Component<Config>& keys, Check check, const std::string& text) {
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
  const auto check = [](const hw::HbmConfig& config, const std::string& pointer, KeyContext& keys) {
    const auto standard = hw::dram::Standards().find(config.standard, "/standard", keys);
    hw::check_hbm(config, hw::hbm_media(config, standard), pointer, keys);
  };
  return fault(hw::hbm_component(), check, text);
}

std::string cxl_fault(const std::string& text) {
  const auto check = [](const hw::CxlDeviceConfig& config, const std::string& pointer,
                        KeyContext& keys) {
    const auto standard = hw::dram::Standards().find(config.media, "/media", keys);
    hw::check_cxl_device(config, hw::cxl_media(config, standard), pointer, keys);
  };
  return fault(hw::cxl_device_component(), check, text);
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
