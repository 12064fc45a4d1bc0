#include "traces/address/reader.h"

#include "model/base/json.h"

#include <fmt/format.h>

#include <charconv>

namespace umf::traces::address {

namespace {

constexpr const char* kForms =
    "\"0xADDR READ|WRITE CYCLE\" (DRAMsim3), \"LD|ST 0xADDR\", \"0xADDR R|W\" or "
    "\"BUBBLES LOAD_ADDR [STORE_ADDR]\" (Ramulator)";

/// The line that a form wants.
const char* wanted(Form form) {
  switch (form) {
  case Form::dramsim3:
    return "0xADDR READ|WRITE CYCLE";
  case Form::load_store:
    return "LD|ST 0xADDR";
  case Form::read_write:
    return "0xADDR R|W";
  case Form::instructions:
    return "BUBBLES LOAD_ADDR [STORE_ADDR]";
  case Form::vector:
    break;
  }
  return kForms;
}

} // namespace

Reader::Reader(const std::filesystem::path& path) : Reader(io::Input::open(path)) {}

Reader::Reader(io::Input input) : lines_(std::move(input)) {
  find_form();
}

void Reader::find_form() {
  while (lines_.next(text_)) {
    if (is_no_request(text_)) continue;
    words_ = words_of(text_);
    const auto form = form_of(words_);
    if (!form)
      fail(0, fmt::format("{} begins no request, expected {}", in_quotes(words_.at[0]), kForms));
    if (form == Form::vector)
      fail(1, fmt::format("{} is a vector of channel, rank, bank, row and column, expected a "
                          "linear address: {}",
                          in_quotes(words_.at[1]), kForms));
    form_ = *form;
    lines_.again();
    return;
  }
  throw UserError(place_of(name()), fmt::format("no requests, expected lines of {}", kForms));
}

bool Reader::next(AddressRequest& request) {
  if (store_) {
    request = *store_;
    store_.reset();
    return true;
  }
  while (lines_.next(text_)) {
    words_ = words_of(text_);
    if (words_.count == 0 || words_.at[0].front() == '#') continue;
    request = parse();
    return true;
  }
  return false;
}

AddressRequest Reader::parse() {
  switch (form_) {
  case Form::dramsim3:
    return timed_request();
  case Form::instructions:
    return instruction();
  case Form::load_store: {
    const bool store = is_word(words_.at[0], "ST");
    if (!store && !is_word(words_.at[0], "LD"))
      fail(0, fmt::format("operation {}, expected LD or ST", in_quotes(words_.at[0])));
    no_more_than(2);
    return {hexadecimal(1), 0, store};
  }
  case Form::read_write: {
    const std::uint64_t address = hexadecimal(0);
    const bool write = is_word(words_.at[1], "W");
    if (words_.count < 2) fail(1, "the line ends, expected R or W");
    if (!write && !is_word(words_.at[1], "R"))
      fail(1, fmt::format("operation {}, expected R or W", in_quotes(words_.at[1])));
    no_more_than(2);
    return {address, 0, write};
  }
  case Form::vector:
    break;
  }
  throw InvariantError("an address trace without addresses");
}

AddressRequest Reader::timed_request() {
  const std::uint64_t address = hexadecimal(0);
  if (words_.count < 2) fail(1, fmt::format("the line ends, expected {}", known_operations()));
  const auto direction = direction_of_operation(words_.at[1]);
  if (!direction)
    fail(1, fmt::format("operation {}, expected {}", in_quotes(words_.at[1]), known_operations()));
  const std::uint64_t cycle = decimal(2, "a cycle");
  no_more_than(3);
  if (cycle < latest_)
    fail(2, fmt::format("cycle {} after cycle {}, expected none to go back", cycle, latest_));
  latest_ = cycle;
  return {address, cycle, direction == Direction::write};
}

AddressRequest Reader::instruction() {
  const std::uint64_t bubbles = decimal(0, "a count of instructions");
  const std::uint64_t load = decimal(1, "the address of a load");
  if (words_.count > 2) {
    const std::uint64_t address = decimal(2, "the address of a store");
    no_more_than(3);
    store_ = AddressRequest{address, 0, true};
  }
  return {load, bubbles, false};
}

std::uint64_t Reader::hexadecimal(std::size_t word) const {
  if (word >= words_.count) fail(word, "the line ends, expected an address such as 0x1F40");
  const std::string_view text = words_.at[word];
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + 2, end, value, 16);
    if (fault == std::errc{} && stop == end) return value;
    if (fault == std::errc::result_out_of_range && stop == end)
      fail(word, fmt::format("address {}, expected one below 2^64", in_quotes(text)));
  }
  fail(word, fmt::format("address {}, expected hexadecimal digits behind 0x", in_quotes(text)));
}

std::uint64_t Reader::decimal(std::size_t word, const char* what) const {
  if (word >= words_.count) fail(word, fmt::format("the line ends, expected {}", what));
  const std::string_view text = words_.at[word];
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value, 10);
  if (fault == std::errc{} && stop == end) return value;
  if (fault == std::errc::result_out_of_range && stop == end)
    fail(word, fmt::format("{}, expected {} below 2^64", in_quotes(text), what));
  fail(word, fmt::format("{}, expected {} in decimal digits", in_quotes(text), what));
}

void Reader::no_more_than(std::size_t words) const {
  if (words_.count > words)
    fail(words, fmt::format("{} behind the request, expected the end of the line: {}",
                            in_quotes(words_.at[words]), wanted(form_)));
}

/// At a word of the line, or at the line's end where it has no such word.
void Reader::fail(std::size_t word, const std::string& message) const {
  Place place = place_in(name(), lines_.number());
  const char* const at = word < words_.count ? words_.at[word].data() : text_.data() + text_.size();
  place.column = static_cast<int>(at - text_.data()) + 1;
  throw UserError(place, message);
}

} // namespace umf::traces::address
