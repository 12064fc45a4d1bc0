#include "hw/dram/controller.h"
#include "hw/dram/mapping.h"
#include "hw/dram/standard.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::hw::dram;

TEST_CASE("the published simulators' configurations read without faults") {
  struct Row {
    const char* file;
    double gigabytes; ///< peak a second, as published
    double closed_ns; ///< tRCD + CL + burst
  };
  const Row row = GENERATE(values<Row>({{"dramsim3-hbm2", 256.0, 30.0},
                                        {"ramulator2-hbm3", 819.2, 33.125},
                                        {"ramulator2-hbm2", 256.0, 30.0},
                                        {"dramsys-hbm2", 32.0, 32.0}})); // 12 + 17 + DQSCK + 2
  CAPTURE(row.file);
  const JsonValue file = read_json_file(
      umf::test::source_file(std::string("results/published/simulators/") + row.file + ".json"));
  KeyContext context;
  const DramStandard standard = read_standard(*file.find("standard"), context);
  const ControllerConfig controller =
      controller_component().read(*file.find("controller"), context, "");
  check_controller(controller, "/controller", context);
  const AddressMap map({.organisation = organisation(standard),
                        .units = standard.channels * standard.units,
                        .stacks = 1,
                        .mapping = controller.mapping,
                        .hash = *controller.hash,
                        .interleave = controller.interleave},
                       "/controller", context);
  context.throw_if_faulty();
  CHECK(map.bytes() == standard.capacity.count);
  CHECK(peak(standard, standard.tCK).value == Approx(row.gigabytes * 1e9));
  const Timings t = timings(standard, standard.tCK);
  CHECK((t.clock * (t.tRCDRD + t.tCL + t.burst)).nanoseconds() == Approx(row.closed_ns));
  CHECK(file.find("published")->items().size() == 4); // stream, random, mix21, idle
}
