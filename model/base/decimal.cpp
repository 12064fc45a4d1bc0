#include "model/base/decimal.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

namespace umf {
namespace {

constexpr std::size_t longest = 400;
constexpr int largest_exponent = 400;
constexpr std::size_t longest_plain = 21;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digit_run(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end]))
    ++end;
  return end - from;
}

/// Length of "e+12" at the start of `text`, 0 if there is none ("EiB" is a unit).
std::size_t exponent_run(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return 0;
  const std::size_t sign = text.size() > 1 && (text[1] == '+' || text[1] == '-') ? 1 : 0;
  const std::size_t digits = digit_run(text, 1 + sign);
  return digits == 0 ? 0 : 1 + sign + digits;
}

std::optional<int> exponent_value(std::string_view run) {
  if (run.empty()) return 0;
  run.remove_prefix(run[1] == '+' ? 2 : 1);
  int value = 0;
  const auto [end, error] = std::from_chars(run.data(), run.data() + run.size(), value);
  if (error != std::errc{} || value > largest_exponent || value < -largest_exponent) return {};
  return value;
}

} // namespace

Decimal::Decimal(std::uint64_t value) : digits_(std::to_string(value)) {
  normalise();
}

std::optional<Decimal> Decimal::parse(std::string_view text, std::size_t& length) {
  const std::size_t integer = digit_run(text, 0);
  if (integer == 0 || (integer > 1 && text[0] == '0')) return {};
  std::size_t end = integer;
  std::size_t fraction = 0;
  if (end < text.size() && text[end] == '.') {
    fraction = digit_run(text, end + 1);
    if (fraction == 0) return {};
    end += 1 + fraction;
  }
  const std::size_t exponent = exponent_run(text.substr(end));
  const std::optional<int> power = exponent_value(text.substr(end, exponent));
  if (!power || end > longest) return {};
  Decimal result;
  result.digits_ = text.substr(0, integer);
  if (fraction > 0) result.digits_ += text.substr(integer + 1, fraction);
  result.exponent_ = *power - static_cast<int>(fraction);
  result.normalise();
  length = end + exponent;
  return result;
}

void Decimal::normalise() {
  const std::size_t first = digits_.find_first_not_of('0');
  if (first == std::string::npos) {
    digits_.clear();
    exponent_ = 0;
    return;
  }
  const std::size_t last = digits_.find_last_not_of('0');
  exponent_ += static_cast<int>(digits_.size() - 1 - last);
  digits_ = digits_.substr(first, last - first + 1);
}

void Decimal::times(unsigned factor) {
  unsigned carry = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) {
    const unsigned product = static_cast<unsigned>(digits_[i] - '0') * factor + carry;
    digits_[i] = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  if (carry > 0) digits_.insert(0, std::to_string(carry));
}

void Decimal::times_power_of_two(unsigned power) {
  for (unsigned i = 0; i < power; ++i)
    times(2);
  normalise();
}

void Decimal::over_power_of_two(unsigned power) {
  for (unsigned i = 0; i < power; ++i)
    times(5); // 1/2 = 5/10
  times_power_of_ten(-static_cast<int>(power));
  normalise();
}

void Decimal::times_power_of_ten(int power) {
  if (!digits_.empty()) exponent_ += power;
}

std::optional<std::uint64_t> Decimal::whole() const {
  if (digits_.empty()) return 0;
  if (exponent_ < 0 || exponent_ > 20) return {};
  const std::string text = digits_ + std::string(static_cast<std::size_t>(exponent_), '0');
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  return value;
}

std::optional<double> Decimal::rounded() const {
  if (digits_.empty()) return 0.0;
  const std::string text = fmt::format("{}e{}", digits_, exponent_);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return {};
  return value;
}

std::string Decimal::text() const {
  if (digits_.empty()) return "0";
  const int point = static_cast<int>(digits_.size()) + exponent_; // digits before the point
  std::string plain;
  if (exponent_ >= 0 && exponent_ <= static_cast<int>(longest_plain)) {
    plain = digits_ + std::string(static_cast<std::size_t>(exponent_), '0');
  } else if (exponent_ < 0 && point > 0) {
    plain = digits_;
    plain.insert(static_cast<std::size_t>(point), 1, '.');
  } else if (exponent_ < 0 && point > -static_cast<int>(longest_plain)) {
    plain = "0." + std::string(static_cast<std::size_t>(-point), '0') + digits_;
  }
  std::string scientific = digits_.substr(0, 1);
  if (digits_.size() > 1) scientific += '.' + digits_.substr(1);
  scientific += fmt::format("e{}", point - 1);
  const bool prefer_plain =
      !plain.empty() && (plain.size() <= longest_plain || plain.size() <= scientific.size());
  return prefer_plain ? plain : scientific;
}

} // namespace umf
