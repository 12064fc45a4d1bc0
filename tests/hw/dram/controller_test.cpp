#include "hw/dram/controller.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::hw::dram;
using umf::test::error_of;

namespace {

std::string faults(const std::string& text) {
  return error_of([&] {
    KeyContext context;
    const ControllerConfig config = controller_component().read(parse_json(text, "f"), context, "");
    check_controller(config, "", context);
    context.throw_if_faulty();
  });
}

} // namespace

TEST_CASE("a controller left out is a sound one") {
  CHECK(faults("{}").empty());
}

TEST_CASE("a controller's keys reach its config") {
  KeyContext context;
  const ControllerConfig config = controller_component().read(
      parse_json(R"({"read_queue": 32, "write_queue": 16, "write_high": 12, "write_low": 4,
                     "age_cap": "1us", "page": "timeout", "page_timeout": "50ns",
                     "refresh": "all_bank", "postpone": 0, "mapping": ["row", "unit"],
                     "hash": ["bank^row"], "interleave": "4KiB"})",
                 "f"),
      context, "");
  context.throw_if_faulty();
  CHECK(config.read_queue == 32);
  CHECK(config.write_queue == 16);
  CHECK(config.write_high == 12);
  CHECK(config.write_low == 4);
  CHECK(config.age_cap == 1000_ns);
  CHECK(config.page == PagePolicy::timeout);
  CHECK(config.page_timeout == 50_ns);
  CHECK(config.refresh == RefreshMode::all_bank);
  CHECK(config.postpone == 0);
  CHECK(config.mapping == std::vector<std::string>{"row", "unit"});
  CHECK(config.hash == std::vector<std::string>{"bank^row"});
  CHECK(config.interleave == 4_KiB);
}

TEST_CASE("a controller that cannot work is refused with the bound") {
  const auto [text, expected] = GENERATE(table<const char*, const char*>(
      {{R"({"read_queue": 0})", "f:1:16: /read_queue: 0 is out of range, expected 1 to 4096"},
       {R"({"write_queue": 0, "write_high": 1, "write_low": 0})",
        "/write_queue: 0 is out of range"},
       {R"({"write_queue": 32})",
        "a drain begins at 48 writes and the queue holds 32, expected at most that"},
       {R"({"write_high": 65})",
        "f:1:16: /write_high: a drain begins at 65 writes and the queue holds 64"},
       {R"({"write_low": 48})",
        "f:1:15: /write_low: a drain ends at 48 writes and begins at 48, expected less"},
       {R"({"page": "opne"})", "open"},
       {R"({"postpone": 9})", "9 is out of range"},
       {R"({"write_hihg": 9})", "unknown key \"write_hihg\", did you mean \"write_high\"?"}}));
  CAPTURE(text);
  CHECK_THAT(faults(text), Catch::Contains(expected));
}
