#pragma once

#include "model/base/units.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace umf {

/// One accepted unit: its size is 10^power_of_ten * 2^power_of_two base units.
struct UnitScale {
  std::string_view name;
  int power_of_ten = 0;
  unsigned power_of_two = 0;
};

/// How a quantity is written: for parsing, printing, errors, documentation and schema.
struct QuantityForm {
  std::string_view type;     ///< "size"
  std::string_view expected; ///< `a size such as "64GiB"`
  std::string_view example;  ///< "64GiB"
  std::string_view base;     ///< "byte": what is counted, for whole quantities
  std::span<const UnitScale> units;
  bool negative = false; ///< may be below zero
};

/// The form of each quantity; specialised for every unit type, declared below.
template <class Q>
const QuantityForm& quantity_form();
template <>
const QuantityForm& quantity_form<Bytes>();
template <>
const QuantityForm& quantity_form<Femtoseconds>();
template <>
const QuantityForm& quantity_form<BytesPerSecond>();
template <>
const QuantityForm& quantity_form<Hertz>();
template <>
const QuantityForm& quantity_form<BytesPerClock>();
template <>
const QuantityForm& quantity_form<FlopsPerSecond>();
template <>
const QuantityForm& quantity_form<PicojoulesPerBit>();
template <>
const QuantityForm& quantity_form<PicojoulesPerFlop>();
template <>
const QuantityForm& quantity_form<Watts>();
template <>
const QuantityForm& quantity_form<Celsius>();

template <class Q>
concept WholeQuantity = std::same_as<Q, Bytes> || std::same_as<Q, Femtoseconds>;
template <class Q>
concept RealQuantity =
    std::same_as<Q, BytesPerSecond> || std::same_as<Q, Hertz> || std::same_as<Q, BytesPerClock> ||
    std::same_as<Q, FlopsPerSecond> || std::same_as<Q, PicojoulesPerBit> ||
    std::same_as<Q, PicojoulesPerFlop> || std::same_as<Q, Watts> || std::same_as<Q, Celsius>;
template <class Q>
concept Quantity = WholeQuantity<Q> || RealQuantity<Q>;

/// Exact: throws UserError (without place) when the text is no such quantity,
/// no whole number of base units, or above `most`.
std::uint64_t parse_whole_quantity(std::string_view text, const QuantityForm& form,
                                   std::uint64_t most);
/// Correctly rounded; throws UserError (without place).
double parse_real_quantity(std::string_view text, const QuantityForm& form);

/// The shortest text that parses back to the same value.
std::string print_whole_quantity(std::uint64_t count, const QuantityForm& form);
std::string print_real_quantity(double value, const QuantityForm& form);

/// A regular expression (ECMA 262) that every text of the form matches.
std::string quantity_pattern(const QuantityForm& form);

template <WholeQuantity Q>
Q parse_quantity(std::string_view text) {
  using Count = decltype(Q::count);
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<Count>::max());
  return Q{static_cast<Count>(parse_whole_quantity(text, quantity_form<Q>(), most))};
}

template <RealQuantity Q>
Q parse_quantity(std::string_view text) {
  return Q{parse_real_quantity(text, quantity_form<Q>())};
}

inline std::string print(Bytes size) {
  return print_whole_quantity(size.count, quantity_form<Bytes>());
}
/// Negative times print with a sign, for messages; no key accepts one.
std::string print(Femtoseconds time);

template <RealQuantity Q>
std::string print(Q quantity) {
  return print_real_quantity(quantity.value, quantity_form<Q>());
}

} // namespace umf
