#include <catch2/catch.hpp>

#include "tests/support/shared_data.h"
#include "tests/traces/address/reading.h"
#include "traces/address/summary.h"

using namespace umf;
using namespace umf::test;
using traces::address::Form;
using traces::address::Summary;

namespace {

const std::string kFolder = "data/traces/address/";

Summary summary_of(const std::filesystem::path& path) {
  Reader reader(path);
  return summarise(reader, [] {});
}

} // namespace

TEST_CASE("DRAMsim3's example trace is read to its last line") {
  const auto path = shared_file(kFolder + "dramsim3_example.trace");
  if (!path) return;
  const Summary summary = summary_of(*path);
  CHECK(summary.form == Form::dramsim3);
  // awk '{ n[$2]++ } END { for (k in n) print k, n[k] }': READ 5365, WRITE 33009.
  CHECK(summary.reads == 5365);
  CHECK(summary.writes == 33009);
  CHECK(summary.reads + summary.writes == 38374); // wc -l
  // cut -d' ' -f1 | sort: all addresses have eight digits. Cycles: first and last line.
  CHECK(summary.lowest == 0x1FF96D00);
  CHECK(summary.highest == 0x4026C000);
  CHECK(summary.first_cycle == 30);
  CHECK(summary.last_cycle == 14712444);
}

TEST_CASE("Ramulator 2's load/store example is read to its last line") {
  const auto path = shared_file(kFolder + "ramulator2_example_loadstore.trace");
  if (!path) return;
  const Summary summary = summary_of(*path);
  CHECK(summary.form == Form::load_store);
  // awk as above: LD 147, ST 53.
  CHECK(summary.reads == 147);
  CHECK(summary.writes == 53);
  CHECK(summary.lowest == 0x100000);
  CHECK(summary.highest == 0x143180);
}

TEST_CASE("Ramulator 2's instruction example is read to its last line") {
  const auto path = shared_file(kFolder + "ramulator2_example_inst.trace");
  if (!path) return;
  const Summary summary = summary_of(*path);
  CHECK(summary.form == Form::instructions);
  // Eight lines, two of them with a store; bubbles 3 + 1 + 6 + 1 + 8 + 0 + 2 + 1.
  CHECK(summary.reads == 8);
  CHECK(summary.writes == 2);
  CHECK(summary.gap_instructions == 22);
  CHECK(summary.lowest == 20734016);
  CHECK(summary.highest == 20918976);
}
