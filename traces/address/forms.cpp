#include "traces/address/forms.h"

#include <algorithm>
#include <limits>

namespace umf::traces::address {

namespace {

constexpr std::string_view kBlanks = " \t\v\f\r";

struct Operation {
  std::string_view name;
  Direction direction;
};
/// The frequent ones first.
constexpr Operation kOperations[] = {{"READ", Direction::read},     {"WRITE", Direction::write},
                                     {"P_MEM_RD", Direction::read}, {"P_MEM_WR", Direction::write},
                                     {"P_FETCH", Direction::read},  {"IFETCH", Direction::read},
                                     {"BOFF", Direction::write},    {"P_LOCK_RD", Direction::read}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "12", "-12": decimal, right or wrong.
bool is_decimal(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}

bool begins_as_hex(std::string_view word) {
  return word.size() >= 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
}

bool is_read_or_write(std::string_view word) {
  return is_word(word, "R") || is_word(word, "W");
}

} // namespace

std::string_view name_of(Form form) {
  switch (form) {
  case Form::dramsim3:
    return "DRAMsim3";
  case Form::load_store:
    return "Ramulator load/store";
  case Form::read_write:
    return "Ramulator read/write";
  case Form::instructions:
    return "Ramulator instructions";
  case Form::vector:
    return "Ramulator read/write vector";
  }
  return "";
}

Words words_of(std::string_view line) {
  Words words;
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (words.count < words.at.size()) {
    while (at != end && blank(*at))
      ++at;
    if (at == end) break;
    const char* const begin = at;
    while (at != end && !blank(*at))
      ++at;
    words.at[words.count++] = {begin, static_cast<std::size_t>(at - begin)};
  }
  return words;
}

bool is_no_request(std::string_view line) {
  const auto first = line.find_first_not_of(kBlanks);
  return first == std::string_view::npos || line[first] == '#';
}

bool is_word(std::string_view word, std::string_view upper) {
  return word.size() == upper.size() &&
         std::equal(word.begin(), word.end(), upper.begin(), [](char c, char is) {
           return (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c) == is;
         });
}

std::optional<Direction> direction_of_operation(std::string_view word) {
  for (const auto& operation : kOperations)
    if (is_word(word, operation.name)) return operation.direction;
  return std::nullopt;
}

std::string_view known_operations() {
  return "READ, P_MEM_RD, P_FETCH, P_LOCK_RD or IFETCH (a read), or WRITE, P_MEM_WR or BOFF "
         "(a write)";
}

std::optional<Form> form_of(const Words& words) {
  const auto [first, second, third, more] = words.at;
  if (is_word(first, "LD") || is_word(first, "ST")) return Form::load_store;
  if (is_read_or_write(first) && second.find(',') != std::string_view::npos) return Form::vector;
  if (words.count == 2 && is_read_or_write(second)) return Form::read_write;
  if (begins_as_hex(first) || direction_of_operation(second)) return Form::dramsim3;
  const bool number = is_decimal(second) || begins_as_hex(second);
  if (is_decimal(first) && number) return Form::instructions;
  return std::nullopt;
}

bool looks_like_address(std::string_view first_bytes) {
  while (!first_bytes.empty()) {
    const std::string_view line = first_bytes.substr(0, first_bytes.find('\n'));
    if (!is_no_request(line)) return form_of(words_of(line)).has_value();
    first_bytes.remove_prefix(std::min(line.size() + 1, first_bytes.size()));
  }
  return false;
}

Place place_in(const std::string& file, std::uint64_t line) {
  Place place = place_of(file);
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  place.line = static_cast<int>(std::min(line, most));
  return place;
}

} // namespace umf::traces::address
