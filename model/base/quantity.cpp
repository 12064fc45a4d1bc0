#include "model/base/quantity.h"

#include "model/base/decimal.h"
#include "model/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace umf {
namespace {

constexpr UnitScale size_units[] = {{"B"},          {"kB", 3},      {"MB", 6},      {"GB", 9},
                                    {"TB", 12},     {"PB", 15},     {"KiB", 0, 10}, {"MiB", 0, 20},
                                    {"GiB", 0, 30}, {"TiB", 0, 40}, {"PiB", 0, 50}};
constexpr UnitScale time_units[] = {{"fs"}, {"ps", 3}, {"ns", 6}, {"us", 9}, {"ms", 12}, {"s", 15}};
constexpr UnitScale rate_units[] = {
    {"B/s"},      {"kB/s", 3},      {"MB/s", 6},      {"GB/s", 9},      {"TB/s", 12},
    {"PB/s", 15}, {"KiB/s", 0, 10}, {"MiB/s", 0, 20}, {"GiB/s", 0, 30}, {"TiB/s", 0, 40}};
constexpr UnitScale clock_units[] = {{"Hz"}, {"kHz", 3}, {"MHz", 6}, {"GHz", 9}, {"THz", 12}};
constexpr UnitScale per_clock_units[] = {{"B/clk"}, {"KiB/clk", 0, 10}};
constexpr UnitScale flop_units[] = {{"FLOP/s"},     {"kFLOP/s", 3},  {"MFLOP/s", 6},
                                    {"GFLOP/s", 9}, {"TFLOP/s", 12}, {"PFLOP/s", 15},
                                    {"EFLOP/s", 18}};
constexpr UnitScale energy_units[] = {{"fJ/bit", -3}, {"pJ/bit"}, {"nJ/bit", 3}};
constexpr UnitScale flop_energy_units[] = {{"fJ/FLOP", -3}, {"pJ/FLOP"}, {"nJ/FLOP", 3}};
constexpr UnitScale power_units[] = {{"mW", -3}, {"W"}, {"kW", 3}};
constexpr UnitScale temperature_units[] = {{"C"}};

std::string unit_names(const QuantityForm& form) {
  std::vector<std::string_view> names;
  for (const UnitScale& unit : form.units)
    names.push_back(unit.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

struct Parsed {
  bool negative = false;
  Decimal magnitude{0}; ///< in base units
};

[[noreturn]] void fail_unit(std::string_view text, std::string_view unit,
                            const QuantityForm& form) {
  if (unit.empty())
    throw UserError(fmt::format("{} has no unit, expected {}", in_quotes(text), form.expected));
  throw UserError(fmt::format("unknown unit {} in {}, expected {} (units: {})", in_quotes(unit),
                              in_quotes(text), form.expected, unit_names(form)));
}

Parsed parse_any(std::string_view text, const QuantityForm& form) {
  Parsed result;
  std::string_view rest = text;
  if (form.negative && rest.substr(0, 1) == "-") {
    result.negative = true;
    rest.remove_prefix(1);
  }
  std::size_t length = 0;
  std::optional<Decimal> number = Decimal::parse(rest, length);
  if (!number)
    throw UserError(fmt::format("found the text {}, expected {}", in_quotes(text), form.expected));
  const std::string_view name = rest.substr(length);
  const auto unit = std::find_if(form.units.begin(), form.units.end(),
                                 [name](const UnitScale& known) { return known.name == name; });
  if (unit == form.units.end()) fail_unit(text, name, form);
  number->times_power_of_two(unit->power_of_two);
  number->times_power_of_ten(unit->power_of_ten);
  result.magnitude = *std::move(number);
  return result;
}

/// Shorter is better; at equal length "500ps" beats "0.5ns".
bool reads_better(const std::string& candidate, const std::string& best) {
  if (best.empty() || candidate.size() != best.size())
    return best.empty() || candidate.size() < best.size();
  return best.starts_with("0.") && !candidate.starts_with("0.");
}

Decimal shortest_decimal(double value) {
  std::size_t length = 0;
  return Decimal::parse(fmt::format("{}", value), length).value();
}

} // namespace

template <>
const QuantityForm& quantity_form<Bytes>() {
  static constexpr QuantityForm form{"size", "a size such as \"64GiB\"", "64GiB", "bytes",
                                     size_units};
  return form;
}

template <>
const QuantityForm& quantity_form<Femtoseconds>() {
  static constexpr QuantityForm form{"time", "a time such as \"95ns\"", "95ns", "femtoseconds",
                                     time_units};
  return form;
}

template <>
const QuantityForm& quantity_form<BytesPerSecond>() {
  static constexpr QuantityForm form{"rate", "a rate such as \"400GB/s\"", "400GB/s", "",
                                     rate_units};
  return form;
}

template <>
const QuantityForm& quantity_form<Hertz>() {
  static constexpr QuantityForm form{"frequency", "a frequency such as \"1.755GHz\"", "1.755GHz",
                                     "", clock_units};
  return form;
}

template <>
const QuantityForm& quantity_form<BytesPerClock>() {
  static constexpr QuantityForm form{"bytes per clock", "bytes per clock such as \"64B/clk\"",
                                     "64B/clk", "", per_clock_units};
  return form;
}

template <>
const QuantityForm& quantity_form<FlopsPerSecond>() {
  static constexpr QuantityForm form{"compute rate", "a compute rate such as \"989TFLOP/s\"",
                                     "989TFLOP/s", "", flop_units};
  return form;
}

template <>
const QuantityForm& quantity_form<PicojoulesPerBit>() {
  static constexpr QuantityForm form{"energy per bit", "an energy per bit such as \"3.9pJ/bit\"",
                                     "3.9pJ/bit", "", energy_units};
  return form;
}

template <>
const QuantityForm& quantity_form<PicojoulesPerFlop>() {
  static constexpr QuantityForm form{"energy per operation",
                                     "an energy per operation such as \"0.8pJ/FLOP\"", "0.8pJ/FLOP",
                                     "", flop_energy_units};
  return form;
}

template <>
const QuantityForm& quantity_form<Watts>() {
  static constexpr QuantityForm form{"power", "a power such as \"80W\"", "80W", "", power_units};
  return form;
}

template <>
const QuantityForm& quantity_form<Celsius>() {
  static constexpr QuantityForm form{
      "temperature", "a temperature such as \"45C\"", "45C", "", temperature_units, true};
  return form;
}

std::uint64_t parse_whole_quantity(std::string_view text, const QuantityForm& form,
                                   std::uint64_t most) {
  const Decimal exact = parse_any(text, form).magnitude;
  if (!exact.is_whole())
    throw UserError(fmt::format("{} is no whole number of {}, expected {}", in_quotes(text),
                                form.base, form.expected));
  const std::optional<std::uint64_t> count = exact.whole();
  if (!count || *count > most)
    throw UserError(fmt::format("{} is too large, expected at most {}{}", in_quotes(text), most,
                                form.units.front().name));
  return *count;
}

double parse_real_quantity(std::string_view text, const QuantityForm& form) {
  const Parsed parsed = parse_any(text, form);
  const std::optional<double> value = parsed.magnitude.rounded();
  if (!value)
    throw UserError(fmt::format("{} is out of the range of double precision, expected {}",
                                in_quotes(text), form.expected));
  return parsed.negative ? -*value : *value;
}

std::string print_whole_quantity(std::uint64_t count, const QuantityForm& form) {
  std::string best;
  for (const UnitScale& unit : form.units) {
    Decimal scaled(count);
    scaled.over_power_of_two(unit.power_of_two);
    scaled.times_power_of_ten(-unit.power_of_ten);
    std::string candidate = scaled.text() + std::string(unit.name);
    if (reads_better(candidate, best)) best = std::move(candidate);
  }
  return best;
}

std::string print_real_quantity(double value, const QuantityForm& form) {
  if (!std::isfinite(value)) return fmt::format("{}{}", value, form.units.front().name);
  std::string best;
  for (const UnitScale& unit : form.units) {
    // Dividing by a power of two is exact down to the subnormals: the digits name this very double.
    const double divided = std::ldexp(std::abs(value), -static_cast<int>(unit.power_of_two));
    if (unit.power_of_two > 0 && !std::isnormal(divided)) continue;
    Decimal scaled = shortest_decimal(divided);
    scaled.times_power_of_ten(-unit.power_of_ten);
    std::string candidate = scaled.text() + std::string(unit.name);
    if (reads_better(candidate, best)) best = std::move(candidate);
  }
  return value < 0 ? '-' + best : best;
}

std::string print(Femtoseconds time) {
  const QuantityForm& form = quantity_form<Femtoseconds>();
  if (time.count >= 0) return print_whole_quantity(static_cast<std::uint64_t>(time.count), form);
  return '-' + print_whole_quantity(-static_cast<std::uint64_t>(time.count), form);
}

std::string quantity_pattern(const QuantityForm& form) {
  std::vector<std::string_view> names;
  for (const UnitScale& unit : form.units)
    names.push_back(unit.name);
  return fmt::format("^{}(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?({})$",
                     form.negative ? "-?" : "", fmt::join(names, "|"));
}

} // namespace umf
