#include "traces/kineto/decimal.h"

#include <charconv>
#include <limits>
#include <string>

namespace umf::traces::kineto {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr int kNanosecondsExponent = 3;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Digits of a number and the power of ten of the last one.
struct Scientific {
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;
};

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count]))
    ++count;
  const auto digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool take_exponent(std::string_view& text, int& exponent) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const auto end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, exponent);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc() && exponent > -1000 && exponent < 1000;
}

std::optional<Scientific> parse(std::string_view text) {
  Scientific number;
  number.whole = take_digits(text);
  if (number.whole.empty()) return std::nullopt;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    number.fraction = take_digits(text);
    if (number.fraction.empty()) return std::nullopt;
  }
  if (!take_exponent(text, number.exponent) || !text.empty()) return std::nullopt;
  return number;
}

bool push_digit(std::int64_t& value, char digit) {
  const int amount = digit - '0';
  if (value >= kMost / 10 && value > (kMost - amount) / 10) return false;
  value = value * 10 + amount;
  return true;
}

/// The digits left of the point once it has moved `exponent` places to the right.
std::optional<std::int64_t> scaled(const Scientific& number, int exponent) {
  const auto whole = static_cast<long>(number.whole.size());
  const auto all = whole + static_cast<long>(number.fraction.size());
  const auto digit = [&](long i) {
    if (i < 0 || i >= all) return '0';
    return i < whole ? number.whole[static_cast<std::size_t>(i)]
                     : number.fraction[static_cast<std::size_t>(i - whole)];
  };
  std::int64_t value = 0;
  const long point = whole + exponent;
  for (long i = 0; i < point; ++i) {
    if (i >= all && value == 0) break;
    if (!push_digit(value, digit(i))) return std::nullopt;
  }
  if (digit(point) >= '5') {
    if (value == kMost) return std::nullopt;
    ++value;
  }
  return value;
}

} // namespace

std::optional<std::int64_t> nanoseconds_from_microseconds(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const auto number = parse(text);
  if (!number) return std::nullopt;
  const auto value = scaled(*number, number->exponent + kNanosecondsExponent);
  if (value && negative) return -*value;
  return value;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || text.empty()) return std::nullopt;
  return value;
}

} // namespace umf::traces::kineto
