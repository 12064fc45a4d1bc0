#include "hw/link/path.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

/// Every key of a path does something: set to another value, some time or counter of a small run
/// differs. A key without an entry here, or without an effect, is a failure.
namespace umf::test {

using namespace hw::link;

namespace {

struct Try {
  std::string value;               ///< instead of the base's
  std::vector<std::string> base{}; ///< what makes the key work, POINTER=VALUE
  std::uint64_t idle_ns = 0;       ///< before a last transaction
};
using Tries = std::map<std::string, Try>;

const std::vector<std::string> kSwitched = {"through_switch=true"};
const std::vector<std::string> kErrors = {"link.bit_error_rate=1e-6"};
const std::vector<std::string> kDegrades = {"link.bit_error_rate=1e-6", "link.errors_to_degrade=2",
                                            "link.recovery=1us", "link.degraded_for=20us"};
const std::vector<std::string> kRequesterWalks = {"requester.translation.entries=4"};
const std::vector<std::string> kIommu = {"through_switch=true", "switch.iommu.entries=4"};

const Tries kPath = {
    {"requester.max_payload", {"128B"}},
    {"requester.max_read_request", {"128B"}},
    {"requester.write_boundary", {"128B"}},
    {"requester.read_tags", {"4"}},
    {"requester.write_tags", {"4"}},
    {"requester.read_rate", {"1MHz"}},
    {"requester.write_rate", {"1MHz"}},
    {"requester.latency", {"100ns"}},
    {"requester.relaxed_ordering", {"true", {"memory.latency=10ns"}}},
    {"requester.link_interleave", {"1KiB", {"links=2"}}},
    {"requester.translation.entries", {"4"}},
    {"requester.translation.page", {"64KiB", kRequesterWalks}},
    {"requester.translation.hit_latency", {"50ns", kRequesterWalks}},
    {"requester.translation.walk_latency", {"900ns", kRequesterWalks}},
    {"requester.translation.walkers", {"1", kRequesterWalks}},
    {"requesters", {"2"}},
    {"links", {"2"}},
    {"through_switch", {"true"}},
    {"switch.latency", {"300ns", kSwitched}},
    {"switch.arbitration", {"weighted", {"through_switch=true", "switch.weights=[1,8,1,1,1]"}}},
    {"switch.weights", {"[1,8,1,1,1]", {"through_switch=true", "switch.arbitration=weighted"}}},
    {"switch.acs_redirect", {"true", kSwitched}},
    {"switch.rc_p2p_limit", {"1GB/s", kSwitched}},
    {"switch.iommu.entries", {"4", kSwitched}},
    {"switch.iommu.page", {"64KiB", kIommu}},
    {"switch.iommu.hit_latency", {"50ns", kIommu}},
    {"switch.iommu.walk_latency", {"900ns", kIommu}},
    {"switch.iommu.walkers", {"1", kIommu}},
    {"memory.max_payload", {"128B"}},
    {"memory.completion_boundary", {"128B"}},
    {"memory.latency", {"500ns"}},
    {"memory.bandwidth", {"5GB/s"}},
    {"memory.queue", {"1"}},
    {"memory.media", {"ddr5-4800"}},
    {"memory.channels", {"4", {"memory.media=ddr5-4800"}}},
    {"memory.cache_lines", {"65536"}},
    {"memory.cache_latency", {"1ns", {"memory.cache_lines=65536"}}},
    {"devices", {"2"}},
    {"interleave", {"4KiB", {"devices=2"}}},
};

const Tries kPcie = {
    {"generation", {"4"}},
    {"width", {"8"}},
    {"latency", {"100ns"}},
    {"request_overhead", {"20B"}},
    {"completion_overhead", {"24B"}},
    {"credits.posted_headers", {"2"}},
    {"credits.posted_data", {"16"}},
    {"credits.request_headers", {"1"}},
    {"credits.completion_headers", {"2"}},
    {"credits.completion_data", {"16"}},
    {"ack_every", {"1"}},
    {"update_every", {"1"}},
    {"control_wait", {"1us"}},
    {"replay_buffer", {"1KiB"}},
    {"bit_error_rate", {"1e-6"}},
    {"skip_interval", {"10"}},
    {"sleep_after", {"1us", {}, 5000}},
    {"wake_time", {"20us", {"link.sleep_after=1us"}, 5000}},
    {"recovery", {"3us", kDegrades}},
    {"errors_to_degrade", {"2", kErrors}},
    {"error_window", {"1ns", kDegrades}},
    {"degraded_generation", {"3", kDegrades}},
    {"degraded_width", {"4", kDegrades}},
    {"degraded_for", {"5us", kDegrades}},
};

const Tries kCxl = {
    {"generation", {"4"}},        {"width", {"8"}},
    {"latency", {"100ns"}},       {"flit", {"256B"}},
    {"request_credits", {"1"}},   {"data_credits", {"1"}},
    {"response_credits", {"1"}},  {"credit_threshold", {"1"}},
    {"control_wait", {"2us"}},    {"retry_flits", {"8"}},
    {"bit_error_rate", {"1e-6"}},
};

const Tries kNvlink = {
    {"requesters", {"2"}},        {"links", {"2"}},          {"lanes", {"2"}},
    {"lane_rate", {"10GB/s"}},    {"latency", {"100ns"}},    {"overhead", {"16B"}},
    {"packet_credits", {"2"}},    {"control_wait", {"1us"}}, {"replay_buffer", {"1KiB"}},
    {"bit_error_rate", {"1e-6"}},
};

constexpr const char* kBases[] = {
    R"({"link": {"kind": "pcie"}})",
    R"({"link": {"kind": "cxl"}, "requester": {"max_payload": "64B", "max_read_request": "64B",
        "read_tags": 64, "write_tags": 64}})",
    R"({"link": {"kind": "nvlink", "links": 1}})"};

/// Every figure of a small run of reads and writes of two requesters, as text.
std::string figures(const std::string& file, const std::vector<std::string>& sets,
                    std::uint64_t idle, bool lines) {
  const PathConfig config = read_path_file(file, sets);
  Path path(config);
  Drive how;
  for (const bool write : {false, true}) {
    Load load = path.load(write, {lines ? 64U : 1000U}, 32, 400);
    load.footprint = Bytes{1 << 19};
    load.stride = Bytes{lines ? 64U : 1088U};
    how.loads.push_back(load);
  }
  how.drain = false;
  std::string text;
  const Driven driven = drive(path.network, how);
  path.network.advance(path.network.now() + from_nanoseconds(static_cast<std::int64_t>(idle)));
  path.network.finished().clear();
  path.network.submit({path.requesters[0], path.memories[0], 0, 64, false, 0});
  while (path.network.next() < kNever)
    path.network.advance(path.network.next());
  path.network.prove_idle();
  const auto add = [&](auto value) { text += std::to_string(value) + ' '; };
  add(driven.elapsed.count);
  add(path.network.now().count); // until the last credit is back
  for (const Finished& finished : path.network.finished())
    add(finished.done.count);
  for (DirectionId d = 0; d < 2 * path.network.links(); ++d) {
    const DirectionStatistics s = path.network.statistics(d);
    add(s.busy().count);
    add(s.packets_in);
    add(s.control.count);
  }
  for (const Loaded& loaded : driven.loads) {
    add(loaded.read_engine.mean());
    add(loaded.write_engine.mean());
  }
  return text;
}

struct TemporaryFile {
  explicit TemporaryFile(const char* text)
      : name((std::filesystem::temp_directory_path() /
              ("umf_path_" + std::to_string(::getpid()) + ".json"))
                 .string()) {
    std::ofstream(name) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(name); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string name;
};

/// Keys of a component that change nothing, or that nobody thought of.
std::vector<std::string> dead(const ComponentInfo& info, const std::string& prefix,
                              const Tries& tries, const char* base, bool lines) {
  const TemporaryFile held(base);
  const std::string& file = held.name;
  std::vector<std::string> all;
  for (const KeyInfo& key : info.keys) {
    if (key.name.rfind("memory.controller.", 0) == 0) continue; // walked with the banks
    const auto found = tries.find(key.name);
    if (found == tries.end()) {
      all.push_back(key.name + " (no entry)");
      continue;
    }
    const Try& t = found->second;
    std::vector<std::string> sets = t.base;
    const std::string before = figures(file, sets, t.idle_ns, lines);
    sets.push_back(prefix + key.name + "=" + t.value);
    if (figures(file, sets, t.idle_ns, lines) == before) all.push_back(key.name);
  }
  return all;
}

} // namespace

TEST_CASE("every key of requesters, memories and switches on one path changes a figure") {
  // With one requester and one memory nothing goes from port to port of a switch: see switch_test.
  const std::vector<std::string> elsewhere = {"requester.relaxed_ordering", "switch.arbitration",
                                              "switch.weights", "switch.acs_redirect"};
  CHECK(dead(path_component().info(), "", kPath, kBases[0], false) == elsewhere);
}

TEST_CASE("every key of a PCIe link changes a figure") {
  CHECK(dead(pcie_component().info(), "link.", kPcie, kBases[0], false) ==
        std::vector<std::string>{});
}

TEST_CASE("every key of a CXL link changes a figure") {
  CHECK(dead(cxl_component().info(), "link.", kCxl, kBases[1], true) == std::vector<std::string>{});
}

TEST_CASE("every key of NVLinks changes a figure") {
  CHECK(dead(nvlink_component().info(), "link.", kNvlink, kBases[2], false) ==
        std::vector<std::string>{});
}

} // namespace umf::test
