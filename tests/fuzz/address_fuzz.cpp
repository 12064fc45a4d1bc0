#include "model/base/error.h"
#include "traces/address/reader.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace umf;
using namespace umf::traces::address;

namespace {

/// The plainest reading of a number: nothing for what is none, or has more than 64 bits.
std::optional<std::uint64_t> number(const std::string& text, unsigned base) {
  __extension__ unsigned __int128 value = 0;
  for (const char c : text) {
    const std::string digits = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    const auto digit = digits.substr(0, base).find(lower);
    if (digit == std::string::npos) return std::nullopt;
    value = value * base + digit;
    if (value >> 64 != 0) return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

bool is_address(const std::string& text) {
  return (text.starts_with("0x") || text.starts_with("0X")) && number(text.substr(2), 16);
}

bool is_one_of(std::string text, const std::vector<std::string>& names) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  for (const auto& name : names)
    if (text == name) return true;
  return false;
}

/// How many requests a line of this form is; 0: malformed. `latest` is the cycle before.
unsigned requests_in(const std::vector<std::string>& words, Form form, std::uint64_t& latest) {
  const std::size_t n = words.size();
  switch (form) {
  case Form::dramsim3: {
    if (n != 3 || !is_address(words[0])) return 0;
    if (!is_one_of(words[1], {"READ", "WRITE", "P_MEM_RD", "P_MEM_WR", "P_FETCH", "IFETCH", "BOFF",
                              "P_LOCK_RD"}))
      return 0;
    const auto cycle = number(words[2], 10);
    if (!cycle || *cycle < latest) return 0;
    latest = *cycle;
    return 1;
  }
  case Form::load_store:
    return n == 2 && is_one_of(words[0], {"LD", "ST"}) && is_address(words[1]) ? 1 : 0;
  case Form::read_write:
    return n == 2 && is_one_of(words[1], {"R", "W"}) && is_address(words[0]) ? 1 : 0;
  case Form::instructions:
    for (const auto& word : words)
      if (!number(word, 10)) return 0;
    return n == 2 || n == 3 ? static_cast<unsigned>(n - 1) : 0;
  case Form::vector:
    break;
  }
  return 0;
}

void must(bool holds) {
  if (!holds) std::abort();
}

struct Expected {
  std::uint64_t requests = 0; ///< before the first malformed line
  bool malformed = false;     ///< there is one
};

Expected expected_of(const std::string& text, Form form) {
  Expected expected;
  std::uint64_t latest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : line + " ") {
      if (c != ' ' && (c < '\t' || c > '\r'))
        word += c;
      else if (!word.empty())
        words.push_back(std::exchange(word, {}));
    }
    if (line.size() > Lines::kLongest) return {expected.requests, true};
    if (words.empty() || words[0][0] == '#') continue;
    const unsigned here = requests_in(words, form, latest);
    if (here == 0) return {expected.requests, true};
    expected.requests += here;
  }
  return expected;
}

} // namespace

/// Exactly the well-formed lines before the first malformed one become requests.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  // Compressed inputs are told by a first byte that is no text: 1f, 28 b5, fd.
  const bool plain = text.empty() || (text[0] != '\x1f' && text[0] != '\x28' && text[0] != '\xfd');
  std::uint64_t given = 0;
  try {
    Reader reader(traces::io::Input::from_memory("fuzz", text));
    const Expected expected = expected_of(text, reader.form());
    try {
      for (AddressRequest request; reader.next(request);)
        ++given;
      must(!plain || !expected.malformed);
    } catch (const UserError& error) {
      must(!plain || (expected.malformed && error.place().line > 0));
    }
    must(!plain || given == expected.requests);
  } catch (const UserError&) {
    for (const Form form : {Form::dramsim3, Form::load_store, Form::read_write, Form::instructions})
      must(!plain || expected_of(text, form).requests == 0);
  }
  return 0;
}
