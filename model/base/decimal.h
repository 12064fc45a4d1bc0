#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace umf {

/// A non-negative decimal number of any length, so that "1.6GiB" is converted
/// without rounding: digits times ten to the exponent.
class Decimal {
public:
  explicit Decimal(std::uint64_t value);

  /// A JSON number without sign at the start of `text`; `length` receives how
  /// many characters it took. Nothing when there is none, or when it is longer
  /// or its exponent larger than any quantity needs.
  static std::optional<Decimal> parse(std::string_view text, std::size_t& length);

  void times_power_of_two(unsigned power);
  void over_power_of_two(unsigned power);
  void times_power_of_ten(int power);

  /// Nothing when there is a fraction or the value passes 64 bits.
  std::optional<std::uint64_t> whole() const;
  bool is_whole() const { return exponent_ >= 0; }
  /// Correctly rounded; nothing when beyond the range of double.
  std::optional<double> rounded() const;
  /// Plain digits ("2.4"), or with an exponent where those would run past 21 characters.
  std::string text() const;

private:
  Decimal() = default;
  void times(unsigned factor);
  void normalise();

  std::string digits_; ///< no leading or trailing zeros; empty for zero
  int exponent_ = 0;
};

} // namespace umf
