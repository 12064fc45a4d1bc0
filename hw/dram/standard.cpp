#include "hw/dram/standard.h"

#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace umf::hw::dram {

namespace {

/// Faults of one standard, each at its key and silenced by the key's `override`.
struct Check {
  const std::string& pointer;
  KeyContext& context;

  void fault(std::string_view key, const std::string& message) const {
    const std::string at = fmt::format("{}/{}", pointer, key);
    if (!context.overridden(at)) context.fault(context.place_of(at), message);
  }

  void power_of_two(std::string_view key, std::uint64_t value) const {
    if (std::has_single_bit(value)) return;
    fault(key, fmt::format("{} is no power of two, expected {} or {}", value, std::bit_floor(value),
                           std::bit_ceil(value)));
  }
};

void check_organisation(const DramStandard& s, const Check& check) {
  check.power_of_two("channels", s.channels);
  check.power_of_two("units", s.units);
  check.power_of_two("ranks", s.ranks);
  check.power_of_two("bank_groups", s.bank_groups);
  check.power_of_two("banks", s.banks);
  if (s.unit_width % 8 != 0)
    return check.fault("unit_width", fmt::format("{} pins are no whole bytes, expected a "
                                                 "multiple of 8",
                                                 s.unit_width));
  if (s.burst_length % s.transfers_per_clock != 0)
    return check.fault("burst_length",
                       fmt::format("{} transfers end within a clock, expected a multiple of the "
                                   "{} transfers of a clock",
                                   s.burst_length, s.transfers_per_clock));
  const std::uint64_t access = std::uint64_t{s.unit_width} / 8 * s.burst_length;
  if (!std::has_single_bit(access))
    check.fault("unit_width", fmt::format("{} pins by {} transfers make an access of {} bytes, "
                                          "expected a power of two",
                                          s.unit_width, s.burst_length, access));
  else if (s.row_size.count % access != 0 || !std::has_single_bit(s.row_size.count / access))
    check.fault("row_size", fmt::format("{} is no power of two of accesses of {} bytes each",
                                        print(s.row_size), access));
  if (const Bytes held = organised_bytes(s); held != s.capacity)
    check.fault("capacity",
                fmt::format("{} is stated, but {} channel(s) × {} unit(s) × {} rank(s) × {} bank "
                            "group(s) × {} bank(s) × {} rows × {} hold {}, expected that",
                            print(s.capacity), s.channels, s.units, s.ranks, s.bank_groups, s.banks,
                            s.rows, print(s.row_size), print(held)));
}

void check_timings(const DramStandard& s, const Check& check) {
  const auto long_as = [&s](ClockedTime least) { return duration(least, s.tCK); };
  const Femtoseconds row = long_as(s.tRAS) + long_as(s.tRP);
  if (long_as(s.tRC) < row)
    check.fault("tRC", fmt::format("{} is less than tRAS and tRP together, expected at least {}",
                                   print(long_as(s.tRC)), print(row)));
  if (s.refresh_banks != 1 && s.refresh_banks != s.bank_groups)
    return check.fault("refresh_banks",
                       fmt::format("{} banks, expected 1 or one of each of the {} bank groups",
                                   s.refresh_banks, s.bank_groups));
  const Femtoseconds interval = long_as(s.tREFI);
  if (long_as(s.tRFCab) >= interval)
    check.fault("tRFCab", fmt::format("a refresh of {} fills its interval tREFI, expected less "
                                      "than {}",
                                      print(long_as(s.tRFCab)), print(interval)));
  const std::int64_t sets = std::int64_t{s.bank_groups} * s.banks / s.refresh_banks;
  if (long_as(s.tRFCpb) * sets >= interval)
    check.fault("tRFCpb",
                fmt::format("{} refreshes of {} fill the interval tREFI, expected less than {}",
                            sets, print(long_as(s.tRFCpb)),
                            print(Femtoseconds{(interval.count + sets - 1) / sets})));
}

} // namespace

void check_standard(const DramStandard& standard, const std::string& pointer, KeyContext& context) {
  const Check check{pointer, context};
  check_organisation(standard, check);
  check_timings(standard, check);
}

DramStandard read_standard(const JsonValue& object, KeyContext& context) {
  DramStandard standard = standard_component().read(object, context);
  const std::string& pointer = object.place().pointer;
  const auto& names = standard_component().names();
  const bool complete = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return context.find(pointer + '/' + name) != nullptr;
  });
  if (complete) check_standard(standard, pointer, context);
  return standard;
}

DramStandard read_standard(std::string_view name) {
  std::vector<std::string> names;
  for (const EmbeddedStandard& shipped : shipped_standards()) {
    names.emplace_back(shipped.name);
    if (shipped.name != name) continue;
    KeyContext context;
    const std::string file = fmt::format("hw/dram/standards/{}.json", name);
    DramStandard standard = read_standard(parse_json(shipped.text, file), context);
    context.throw_if_faulty();
    return standard;
  }
  throw UserError(fmt::format("unknown DRAM standard {}, expected one of {}{}", in_quotes(name),
                              fmt::join(names, ", "), near_hint(name, names)));
}

Organisation organisation(const DramStandard& s) {
  return {.ranks = s.ranks,
          .bank_groups = s.bank_groups,
          .banks = s.banks,
          .rows = s.rows,
          .row_bytes = static_cast<std::uint32_t>(s.row_size.count),
          .access_bytes = s.unit_width / 8 * s.burst_length};
}

Timings timings(const DramStandard& s, Femtoseconds clock) {
  if (clock < s.tCK)
    throw UserError(fmt::format("a clock of {} is faster than {} runs, expected at least {}",
                                print(clock), s.name, print(s.tCK)));
  const auto whole = [clock](ClockedTime least) { return cycles(least, clock); };
  return {.clock = clock,
          .burst = s.burst_length / s.transfers_per_clock,
          .tCL = whole(s.tCL),
          .tCWL = whole(s.tCWL),
          .tRCDRD = whole(s.tRCDRD),
          .tRCDWR = whole(s.tRCDWR),
          .tRP = whole(s.tRP),
          .tRAS = whole(s.tRAS),
          .tRC = whole(s.tRC),
          .tCCDS = whole(s.tCCDS),
          .tCCDL = whole(s.tCCDL),
          .tCCDR = whole(s.tCCDR),
          .tCCDSWR = whole(s.tCCDSWR),
          .tCCDLWR = whole(s.tCCDLWR),
          .tRRDS = whole(s.tRRDS),
          .tRRDL = whole(s.tRRDL),
          .tFAW = whole(s.tFAW),
          .tRTP = whole(s.tRTP),
          .tWR = whole(s.tWR),
          .tWTRS = whole(s.tWTRS),
          .tWTRL = whole(s.tWTRL),
          .tRTW = whole(s.tRTW),
          .tRTRS = whole(s.tRTRS),
          .tPPD = whole(s.tPPD),
          .tREFI = whole(s.tREFI),
          .tRFCab = whole(s.tRFCab),
          .tRFCpb = whole(s.tRFCpb),
          .tRREFD = whole(s.tRREFD),
          .act_clocks = s.act_clocks,
          .column_clocks = s.column_clocks,
          .shared_bus = s.shared_bus,
          .refresh_banks = s.refresh_banks};
}

Bytes organised_bytes(const DramStandard& s) {
  return {std::uint64_t{s.channels} * s.units * s.ranks * s.bank_groups * s.banks * s.rows *
          s.row_size.count};
}

Hertz pin_rate(const DramStandard& s, Femtoseconds clock) {
  return {s.transfers_per_clock / clock.seconds()};
}

BytesPerSecond unit_peak(const DramStandard& s, Femtoseconds clock) {
  return {s.unit_width / 8.0 * pin_rate(s, clock).value};
}

BytesPerSecond peak(const DramStandard& s, Femtoseconds clock) {
  return {unit_peak(s, clock).value * s.channels * s.units};
}

} // namespace umf::hw::dram
