#include "hw/link/measure.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

/// What users of other interconnect simulators ran into, each as a test of what holds here.
namespace umf::test {

using namespace hw::link;

namespace {

PathConfig path(const std::string& name, const std::vector<std::string>& sets = {}) {
  return read_path_file(source_file("scenarios/links/" + name + ".json").string(), sets);
}

double lone_read(const std::vector<std::string>& sets) {
  return unloaded_read(path("memchannel-pool", sets));
}

double reads(const std::string& name, const std::vector<std::string>& sets) {
  Measure how;
  how.transactions = 4000;
  return measure(path(name, sets), how).reads.value;
}

} // namespace

TEST_CASE("remote latency is no dead knob: each of its parts is in a read twice") {
  // github.com/Amit-P89/-DRackSim issues 1 and 2: changing it changed nothing. A read crosses each
  // link and the switch on the way there and back.
  const double before = lone_read({"link.latency=30ns", "device_link.latency=30ns",
                                   "switch.latency=20ns", "memory.latency=50ns"});
  const auto more = [&](const char* set) {
    std::vector<std::string> sets = {"link.latency=30ns", "device_link.latency=30ns",
                                     "switch.latency=20ns", "memory.latency=50ns"};
    sets.push_back(set);
    return lone_read(sets) - before;
  };
  CHECK(more("link.latency=40ns") == Approx(20).margin(0.5));
  CHECK(more("device_link.latency=40ns") == Approx(20).margin(0.5));
  CHECK(more("switch.latency=30ns") == Approx(20).margin(0.5));
  CHECK(more("memory.latency=60ns") == Approx(10).margin(0.5));
}

TEST_CASE("PCIe has a bandwidth knob: a generation doubles it, half the lanes halve it") {
  // github.com/MoatLab/FEMU issue 151: no knob for PCIe bandwidth.
  const double gen5 = reads("gpu-gen5-x16", {});
  CHECK(reads("gpu-gen5-x16", {"link.generation=4"}) == Approx(gen5 / 2).epsilon(0.01));
  CHECK(reads("gpu-gen5-x16", {"link.width=8"}) == Approx(gen5 / 2).epsilon(0.01));
}

TEST_CASE("a switch is a switch: what one port takes the other does not get") {
  // github.com/TianheMICALab/SimCXL issue 12: a switch in the paper, a bridge in the code. Two
  // devices behind one switch share the host's link; each alone gets what its own link carries.
  const std::vector<std::string> wide = {"links=1", "link.width=8", "device_link.width=8",
                                         "requester.read_tags=1024"};
  Measure how;
  how.size = Bytes{64};
  how.outstanding = 1024;
  how.transactions = 20'000;
  auto one = wide, two = wide;
  one.push_back("devices=1");
  two.push_back("devices=2");
  const double alone = measure(path("memchannel-pool", one), how).reads.value;
  const double both = measure(path("memchannel-pool", two), how).reads.value;
  // 83.7 % of 31.5 GB/s: nine slots for two lines.
  CHECK(both == Approx(26.4e9).epsilon(0.03));
  CHECK(alone <= both * 1.001);
}

TEST_CASE("no cap is silent: what holds a load back has a name") {
  // github.com/microsoft/vidur issue 60 and others: limits that nobody is told of.
  Measure how;
  how.size = Bytes{64};
  how.outstanding = 4096;
  how.transactions = 20'000;
  CHECK(measure(path("gpu-gen5-x16", {"requester.read_tags=8"}), how).limit == Limit::tags);
  how.size = Bytes{4096};
  how.outstanding = 64;
  CHECK(measure(path("gpu-gen5-x16"), how).limit == Limit::wire);
}

TEST_CASE("a misspelt key of a link is an error that names the right one") {
  // github.com/umd-memsys/DRAMsim3 issue 62: fifteen files spelt a key that nobody read.
  CHECK_THROWS_WITH(path("gpu-gen5-x16", {"link.latencey=1ns"}),
                    Catch::Matchers::Contains("latency"));
}

} // namespace umf::test
