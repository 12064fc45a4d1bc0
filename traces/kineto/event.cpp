#include "traces/kineto/event.h"

#include "traces/kineto/decimal.h"
#include "traces/kineto/text_repair.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

namespace umf::traces::kineto {

namespace {

namespace json = simdjson::ondemand;

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// A scalar as written, a string without its quotes.
std::string_view scalar(std::string_view token) {
  token = trimmed(token);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037u;
  for (const char c : text)
    value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return value | std::uint64_t{1} << 63;
}

/// "stream 7" names a stream in 2021 files.
std::string_view without_stream_word(std::string_view text) {
  constexpr std::string_view word = "stream ";
  return text.substr(0, word.size()) == word ? text.substr(word.size()) : text;
}

std::uint64_t thread_number(std::string_view token) {
  const auto text = without_stream_word(scalar(token));
  if (const auto number = whole_number(text)) return static_cast<std::uint64_t>(*number);
  return hash(text);
}

Category category_of(std::string_view text) {
  struct Named {
    std::string_view text;
    Category category;
  };
  constexpr std::array<Named, 14> table{{{"kernel", Category::kernel},
                                         {"cpu_op", Category::op},
                                         {"cuda_runtime", Category::runtime},
                                         {"cuda_driver", Category::runtime},
                                         {"hip_runtime", Category::runtime},
                                         {"gpu_memcpy", Category::copy},
                                         {"gpu_memset", Category::memset},
                                         {"cuda_sync", Category::sync},
                                         {"user_annotation", Category::annotation},
                                         {"Kernel", Category::kernel},
                                         {"Operator", Category::op},
                                         {"Runtime", Category::runtime},
                                         {"Memcpy", Category::copy},
                                         {"Memset", Category::memset}}};
  for (const Named& named : table) // most differ in length or in the first letter
    if (named.text.size() == text.size() && named.text[0] == text[0] && named.text == text)
      return named.category;
  return Category::other;
}

/// Takes `expected` and blanks before it off the front.
bool take(std::string_view& text, std::string_view expected) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  if (text.substr(0, expected.size()) != expected) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take_string_member(std::string_view& text, std::string_view key, std::string_view& value) {
  if (!take(text, key) || !take(text, ":") || !take(text, "\"")) return false;
  std::size_t end = 0;
  while (end < text.size() && text[end] != '"' && text[end] != '\\')
    ++end;
  if (end == text.size() || text[end] != '"') return false;
  value = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

using Slot = std::optional<std::int64_t> Event::*;
using Raw = std::string_view Event::*;

struct NumberKey {
  std::string_view key;
  Slot slot;
};

struct RawKey {
  std::string_view key;
  Raw slot;
};

constexpr std::array<NumberKey, 11> kNumbers{{{"correlation", &Event::correlation},
                                              {"External id", &Event::external_id},
                                              {"external id", &Event::external_id},
                                              {"device", &Event::device},
                                              {"stream", &Event::stream},
                                              {"wait_on_stream", &Event::awaited_stream},
                                              {"bytes", &Event::bytes},
                                              {"registers per thread", &Event::registers},
                                              {"shared memory", &Event::shared_memory},
                                              {"In msg nelems", &Event::in_elements},
                                              {"Out msg nelems", &Event::out_elements}}};

constexpr std::array<RawKey, 5> kRaw{{{"Input Dims", &Event::dims},
                                      {"Input dims", &Event::dims},
                                      {"Input type", &Event::types},
                                      {"Input Strides", &Event::strides},
                                      {"Concrete Inputs", &Event::concrete}}};

constexpr std::array<RawKey, 3> kWords{{{"kernel", &Event::launched},
                                        {"Collective name", &Event::collective},
                                        {"dtype", &Event::dtype}}};

std::string_view key_of(json::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\0')
    ++end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::string_view raw_array(json::value& value) {
  json::array array;
  std::string_view text;
  if (value.get_array().get(array) || array.raw_json().get(text)) return {};
  return text;
}

/// Three counts, as in "grid": [18, 1, 1].
bool read_extent(std::string_view text, std::array<std::uint32_t, 3>& extent) {
  std::array<std::uint32_t, 3> read{};
  std::size_t at = 0;
  for (auto& count : read) {
    while (at < text.size() && !is_digit(text[at]))
      ++at;
    auto end = at;
    while (end < text.size() && is_digit(text[end]))
      ++end;
    if (end == at) return false;
    const auto number = whole_number(text.substr(at, end - at));
    if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return false;
    count = static_cast<std::uint32_t>(*number);
    at = end;
  }
  extent = read;
  return true;
}

void read_argument(std::string_view key, json::value& value, Event& event) {
  const auto number = std::find_if(kNumbers.begin(), kNumbers.end(),
                                   [&](const NumberKey& n) { return n.key == key; });
  if (number != kNumbers.end()) {
    event.*number->slot = whole_number(scalar(value.raw_json_token()));
    if (!(event.*number->slot)) event.faults |= bad_number;
    return;
  }
  const auto raw =
      std::find_if(kRaw.begin(), kRaw.end(), [&](const RawKey& r) { return r.key == key; });
  if (raw != kRaw.end()) {
    event.*raw->slot = raw_array(value);
    return;
  }
  const auto word =
      std::find_if(kWords.begin(), kWords.end(), [&](const RawKey& w) { return w.key == key; });
  if (word != kWords.end()) {
    event.*word->slot = scalar(value.raw_json_token());
    return;
  }
  if (key == "grid") event.has_grid = read_extent(raw_array(value), event.grid);
  if (key == "block") read_extent(raw_array(value), event.block);
}

bool read_arguments(json::value& value, Event& event) {
  json::object object;
  if (value.get_object().get(object)) return true;
  for (auto result : object) {
    json::field field;
    if (std::move(result).get(field)) return false;
    read_argument(key_of(field), field.value(), event);
  }
  return true;
}

void read_duration(std::string_view token, Event& event) {
  event.duration_ns = nanoseconds_from_microseconds(scalar(token));
  if (!event.duration_ns) {
    event.faults |= bad_duration;
  } else if (*event.duration_ns < 0) {
    event.faults |= negative_duration;
    event.duration_ns = 0;
  }
}

void read_start(std::string_view token, Event& event) {
  event.start_ns = nanoseconds_from_microseconds(scalar(token));
  if (!event.start_ns) event.faults |= bad_time;
}

/// What is known once every field has been seen, whatever their order.
struct Outer {
  std::string_view phase;
  bool broken = false;
};

/// The letters of a key of up to four bytes as one number, to switch on.
constexpr std::uint32_t letters(std::string_view key) {
  std::uint32_t value = 0;
  if (key.size() > 4) return 0;
  for (const char c : key)
    value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

void read_name(std::string_view token, Event& event) {
  if (!unescape(scalar(token), event.name)) event.faults |= bad_escape;
}

void read_field(json::field& field, Event& event, Outer& outer) {
  auto& value = field.value();
  switch (letters(key_of(field))) {
  case letters("args"):
    outer.broken = !read_arguments(value, event);
    break;
  case letters("ph"):
    outer.phase = scalar(value.raw_json_token());
    break;
  case letters("cat"):
    event.category = category_of(scalar(value.raw_json_token()));
    break;
  case letters("name"):
    read_name(value.raw_json_token(), event);
    break;
  case letters("pid"):
    event.thread.process = thread_number(value.raw_json_token());
    break;
  case letters("tid"):
    event.thread.thread = thread_number(value.raw_json_token());
    break;
  case letters("ts"):
    read_start(value.raw_json_token(), event);
    break;
  case letters("dur"):
    read_duration(value.raw_json_token(), event);
    break;
  default:
    break;
  }
}

bool read_event(json::document& document, Event& event) {
  json::object object;
  if (document.get_object().get(object)) return false;
  Outer outer;
  for (auto result : object) {
    json::field field;
    if (std::move(result).get(field)) return false;
    read_field(field, event, outer);
    if (outer.broken) return false;
  }
  if (outer.phase != "X") event.category = Category::other;
  if (!event.start_ns) event.faults |= bad_time;
  if (!event.duration_ns) event.faults |= bad_duration;
  return true;
}

} // namespace

bool is_skippable(std::string_view text) {
  std::string_view phase;
  std::string_view category;
  if (!take(text, "{") || !take_string_member(text, "\"ph\"", phase)) return false;
  if (phase != "X") return true;
  if (!take(text, ",") || !take_string_member(text, "\"cat\"", category)) return false;
  return category_of(category) == Category::other;
}

struct EventParser::State {
  json::parser parser;
  std::string copy;
};

EventParser::EventParser() : state_(std::make_unique<State>()) {}
EventParser::~EventParser() = default;

bool EventParser::parse(std::string_view text, Event& event) {
  const auto attempt = [&](std::string_view from) {
    const auto faults = event.faults;
    event = Event();
    event.faults = faults;
    json::document document;
    const auto error =
        state_->parser.iterate(from.data(), from.size(), from.size() + simdjson::SIMDJSON_PADDING)
            .get(document);
    return !error && read_event(document, event);
  };
  event.faults = 0;
  if (attempt(text)) return true;
  auto repaired = repair_bytes(text);
  if (!repaired.bytes && !repaired.controls) return false;
  event.faults =
      (repaired.bytes ? repaired_utf8 : 0u) | (repaired.controls ? repaired_control : 0u);
  state_->copy = std::move(repaired.text);
  const auto length = state_->copy.size();
  state_->copy.append(simdjson::SIMDJSON_PADDING, ' ');
  return attempt({state_->copy.data(), length});
}

} // namespace umf::traces::kineto
