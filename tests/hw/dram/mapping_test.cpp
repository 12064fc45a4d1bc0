#include "hw/dram/mapping.h"
#include "hw/dram/standard.h"
#include "tests/base/error_of.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <set>
#include <tuple>

using namespace umf;
using namespace umf::hw::dram;
using umf::test::error_of;

namespace {

AddressMap map_of(const AddressMapOptions& options) {
  KeyContext context;
  AddressMap map(options, "", context);
  context.throw_if_faulty();
  return map;
}

std::string faults(const AddressMapOptions& options) {
  return error_of([&] { map_of(options); });
}

/// HBM3's, in a stack of 16 channels with 2 pseudo-channels.
AddressMapOptions hbm3() {
  return {.organisation = {2, 4, 4, 16384, 1024, 32},
          .units = 32,
          .mapping = {"row", "rank", "bank", "column", "group", "unit"}};
}

using Names = std::vector<std::string>;

struct Case {
  Organisation organisation;
  std::uint32_t units, stacks;
  Names mapping, hash;
  Bytes interleave;
};

const Organisation small{2, 4, 4, 6, 256, 32}; // 6 rows, 8 columns
const Names plain_fields = {"row", "rank", "bank", "column", "group", "unit"};
const Names mop_fields = {"row", "column", "bank", "group", "rank", "unit:1", "column:2", "unit"};

const std::vector<Case> cases = {
    {small, 4, 1, plain_fields, {}, Bytes{256}},
    {small, 4, 3, plain_fields, {}, Bytes{256}},
    {small, 4, 5, mop_fields, {}, Bytes{64}},
    {small, 4, 4, mop_fields, {"unit^column", "group^row>>1", "bank^row", "rank^column>>2"}, 1_KiB},
    {small,
     8,
     6,
     {"row", "bank:1", "unit:2", "column:1", "bank", "column", "group", "rank", "unit"},
     {"unit>>1^row", "column^bank>>1"},
     Bytes{32}},
    {small, 2, 1, {"row", "unit", "bank", "group", "rank", "row:1", "column"}, {}, Bytes{256}},
    {{1, 1, 1, 7, 64, 64}, 1, 7, {"row"}, {}, Bytes{64}}};

} // namespace

TEST_CASE("every place has one address and every address one place") {
  for (const Case& c : cases) {
    CAPTURE(&c - cases.data());
    const AddressMap map =
        map_of({c.organisation, c.units, c.stacks, c.mapping, c.hash, c.interleave});
    const Organisation& org = c.organisation;
    CHECK(map.units() == c.units * c.stacks);
    REQUIRE(map.bytes() == org.bytes() * map.units());
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> places;
    bool inside = true, back = true;
    for (std::uint64_t address = 0; address < map.bytes(); address += org.access_bytes) {
      const Location at = map.locate(address + address % org.access_bytes);
      inside = inside && at.unit < map.units() && at.bank < org.all_banks() && at.row < org.rows &&
               at.column < org.columns();
      back = back && map.address_of(at) == address;
      places.emplace(at.unit, at.bank, at.row, at.column);
    }
    // As many places as there are, so each field is covered evenly.
    CHECK(inside);
    CHECK(back);
    CHECK(places.size() == map.bytes() / org.access_bytes);
  }
}

TEST_CASE("random addresses of large memories come back") {
  std::mt19937_64 random(20261130); // the same everywhere
  const std::vector<AddressMapOptions> all = [] {
    std::vector<AddressMapOptions> options(4, hbm3());
    options[0].stacks = 5;
    options[1].stacks = 6;
    options[1].organisation.rows = 24576; // HBM3E
    options[1].hash = {"group^row", "bank^row>>2", "unit^row>>4", "rank^row>>9"};
    options[2].mapping = mop_fields;
    options[2].hash = {"unit>>4^column", "rank^column>>1", "group^column>>2", "bank^column>>4"};
    options[3] = {{1, 8, 4, 65536, 4096, 64}, 2, 12, plain_fields, {"group^row"}, 4_KiB}; // 12 DDR5
    return options;
  }();
  for (const AddressMapOptions& options : all) {
    CAPTURE(&options - all.data());
    const AddressMap map = map_of(options);
    const Organisation& org = options.organisation;
    std::vector<std::uint64_t> units(map.units()), banks(org.all_banks());
    const std::uint64_t draws = 200'000;
    bool sound = true;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const std::uint64_t address = random() % map.bytes();
      const Location at = map.locate(address);
      sound = sound && at.row < org.rows && at.column < org.columns() &&
              map.address_of(at) == address - address % org.access_bytes;
      ++units.at(at.unit);
      ++banks.at(at.bank);
      // What lies together differs in nothing but a column that counts up.
      const std::uint32_t together = map.together(address);
      Location last = at;
      last.column += together - 1;
      sound =
          sound && together > 0 && map.locate(address + (together - 1) * org.access_bytes) == last;
    }
    CHECK(sound);
    // Even within six standard deviations of a fair draw.
    for (const auto* counts : {&units, &banks}) {
      const double mean = static_cast<double>(draws) / static_cast<double>(counts->size());
      for (const std::uint64_t count : *counts)
        CHECK(std::abs(static_cast<double>(count) - mean) < 6 * std::sqrt(mean));
    }
  }
}

TEST_CASE("columns lie together up to the first bit of another field") {
  // 4 columns (MOP), then the unit.
  AddressMapOptions options = hbm3();
  options.mapping = {"row", "column", "bank", "group", "rank", "unit", "column:2"};
  CHECK(map_of(options).together(0) == 4);
  CHECK(map_of(options).together(3 * options.organisation.access_bytes) == 1);
  // A hash by the lowest column bit leaves none.
  options.hash = {"unit^column"};
  CHECK(map_of(options).together(0) == 1);
}

TEST_CASE("fields lie where the mapping says") {
  // DRAMsim3's rorabgbachco on its HBM2: 6 bits within an access, then column 5, channel 3,
  // bank 2, group 2, row.
  const AddressMap map = map_of({.organisation = {1, 4, 4, 16384, 2048, 64},
                                 .units = 8,
                                 .mapping = {"row", "rank", "group", "bank", "unit", "column"}});
  CHECK(map.locate(0) == Location{0, 0, 0, 0});
  CHECK(map.locate(64) == Location{0, 0, 0, 1});
  CHECK(map.locate(64 + 63) == Location{0, 0, 0, 1});
  CHECK(map.locate(1U << 11U) == Location{1, 0, 0, 0});
  CHECK(map.locate(1U << 14U) == Location{0, 1, 0, 0});
  CHECK(map.locate(1U << 16U) == Location{0, 4, 0, 0}); // group 1: its first bank is the fifth
  CHECK(map.locate(5U << 18U) == Location{0, 0, 5, 0});
}

TEST_CASE("the mapping that a controller has by itself fits every shipped standard") {
  const ControllerConfig config;
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    const DramStandard standard = read_standard(shipped.name);
    const Organisation org = organisation(standard);
    const AddressMap map = map_of({org, standard.channels * standard.units, 5, config.mapping,
                                   bank_hash(org), config.interleave});
    CHECK(map.bytes() == 5 * standard.capacity.count);
  }
}

TEST_CASE("a split field takes its low bits from below") {
  AddressMapOptions options = hbm3();
  options.mapping = mop_fields;
  const AddressMap map = map_of(options);
  // From the bottom: channel 4, column 2, pseudo-channel 1, rank 1, group 2, bank 2, column 3.
  CHECK(map.locate(32U << 3U) == Location{8, 0, 0, 0});
  CHECK(map.locate(32U << 4U) == Location{0, 0, 0, 1});
  CHECK(map.locate(32U << 6U) == Location{16, 0, 0, 0});
  CHECK(map.locate(32U << 7U) == Location{0, 16, 0, 0});
  CHECK(map.locate(32U << 8U) == Location{0, 4, 0, 0});
  CHECK(map.locate(32U << 10U) == Location{0, 1, 0, 0});
  CHECK(map.locate(32U << 12U) == Location{0, 0, 0, 4});
  CHECK(map.locate(32U << 15U) == Location{0, 0, 1, 0});
}

TEST_CASE("a hash changes its target by its source and nothing else") {
  AddressMapOptions options = hbm3();
  const AddressMap plain = map_of(options);
  options.hash = {"group^row>>1", "unit>>4^column"};
  const AddressMap hashed = map_of(options);
  const std::uint64_t address = plain.address_of({3, 2 * 4 + 1, 0b110, 5}); // group 2, bank 1
  // group 2 ^ (0b110 >> 1) = 2 ^ 3 = 1; the top bit of unit ^ the low bit of column = 1
  CHECK(hashed.locate(address) == Location{3 + 16, 1 * 4 + 1, 0b110, 5});
}

TEST_CASE("stacks take turns at every interleave, any number of them") {
  AddressMapOptions options = hbm3();
  options.stacks = 5;
  options.interleave = 4_KiB;
  const AddressMap map = map_of(options);
  for (std::uint64_t chunk = 0; chunk < 40; ++chunk) {
    CHECK(map.locate(chunk * 4096).unit / 32 == chunk % 5);
    CHECK(map.locate(chunk * 4096 + 4095).unit / 32 == chunk % 5);
  }
  // The sixth chunk is the second of the first stack: 128 accesses further on in it.
  options.stacks = 1;
  CHECK(map.locate(std::uint64_t{5} * 4096) == map_of(options).locate(4096));
}

TEST_CASE("a mapping that does not cover its fields says what is missing") {
  struct Row {
    Names mapping;
    const char* message;
  };
  const Row row = GENERATE(values<Row>(
      {{{"row", "rank", "bank", "group", "unit"},
        "5 of the 5 bits of \"column\" are not mapped, expected \"column\" or \"column:5\""},
       {{"row", "rank", "bank", "group", "unit", "column:3"},
        "2 of the 5 bits of \"column\" are not mapped"},
       {{"row", "rank", "bank", "group", "unit", "column", "column:6"},
        "6 bits of \"column\" are mapped, expected its 5"},
       {{"row", "rank", "bank", "group", "unit", "column", "column"},
        "\"column\" stands 2 times without \":bits\", expected once"},
       {{"row", "rank", "bank", "group", "unit", "colunm"},
        "unknown field \"colunm\", did you mean \"column\"?"},
       {{"rank", "row", "bank", "group", "unit", "column"},
        "the row takes what is left on top, expected \"row\" first"},
       {{"row", "rank", "bank", "group", "unit", "column", "row:15"},
        "16384 rows do not divide into the 15 low bits of \"row:15\""},
       {{"row", "rank", "bank", "group", "unit", "column:x"}, "expected a number of bits"},
       {{"row", "rank", "bank", "group", "unit", "column", "column:0"}, "takes no bits"},
       {Names(25, "row"), "25 entries, expected at most 24"},
       {{}, "the row takes what is left on top"}}));
  AddressMapOptions options = hbm3();
  options.mapping = row.mapping;
  CHECK_THAT(faults(options), Catch::Contains(row.message));
}

TEST_CASE("a hash that is none says why") {
  const auto [hash, message] = GENERATE(table<const char*, const char*>(
      {{"bank", "expected such as \"bank^row>>2\""},
       {"bank^bank>>1", "hashes a field with itself"},
       {"row^bank", "changes the row"},
       {"bnk^row", "unknown field \"bnk\", did you mean \"bank\"?"},
       {"bank^rows", "unknown field \"rows\", did you mean \"row\"?"},
       {"bank^row>>14", "changes nothing: bank has 2 bit(s) and row has 14"},
       {"unit>>5^row", "changes nothing: unit has 5 bit(s)"},
       {"bank^row>>-1", "expected a number of bits"}}));
  AddressMapOptions options = hbm3();
  options.hash = {hash};
  CHECK_THAT(faults(options), Catch::Contains(message));
}

TEST_CASE("the hash that a bank has by itself takes the bits of the row in turn") {
  using List = std::vector<std::string>;
  Organisation org{2, 4, 4, 100, 1024, 32}; // rows: 7 bits; bank: 2; rank: 1
  CHECK(bank_hash(org) ==
        List{"bank^row>>0", "rank^row>>2", "bank^row>>3", "rank^row>>5", "bank^row>>6"});
  org.ranks = 1;
  CHECK(bank_hash(org) == List{"bank^row>>0", "bank^row>>2", "bank^row>>4", "bank^row>>6"});
  org.rows = 1 << 20; // more bits than a list takes entries for
  CHECK(bank_hash(org).size() == AddressMap::kMostHashes);
  org.rows = 1;
  CHECK(bank_hash(org).empty());
  org = {1, 4, 1, 1024, 1024, 32};
  CHECK(bank_hash(org).empty());
}

TEST_CASE("an interleave that does not divide the memory is refused") {
  AddressMapOptions options = hbm3();
  options.stacks = 2;
  options.interleave = Bytes{GENERATE(16U, 48U, 3U << 20U)};
  CHECK_THAT(faults(options), Catch::Contains("expected a power of two from 32B on"));
}

TEST_CASE("a fault of the mapping stands where the mapping stands") {
  KeyContext context;
  const ControllerConfig config =
      controller_component().read(parse_json(R"({"mapping": ["row"]})", "f"), context, "");
  AddressMapOptions options = hbm3();
  options.mapping = config.mapping;
  const AddressMap map(options, "", context);
  CHECK_THAT(error_of([&] { context.throw_if_faulty(); }), Catch::StartsWith("f:1:13: /mapping: "));
}
