#include "traces/kineto/event_splitter.h"

#include "model/base/error.h"
#include "traces/kineto/brace_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace umf::traces::kineto {

namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kRead = std::size_t{1} << 18;
constexpr const char* kTrace =
    "expected a Chrome trace: an object with \"traceEvents\" or an array of events";

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Keys with which an event begins in files of any writer seen.
bool is_event_key(std::string_view text) {
  constexpr std::array<std::string_view, 8> keys{"\"ph\"",  "\"cat\"", "\"name\"", "\"pid\"",
                                                 "\"tid\"", "\"ts\"",  "\"dur\"",  "\"id\""};
  return std::any_of(keys.begin(), keys.end(),
                     [&](std::string_view key) { return text.substr(0, key.size()) == key; });
}

} // namespace

EventSplitter::EventSplitter(io::Input& input) : input_(input), buffer_(kRead + kPadding, '\0') {}

bool EventSplitter::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    offset_ += begin_;
    begin_ = 0;
  }
  if (buffer_.size() - kPadding - end_ < kRead / 2) buffer_.resize(2 * buffer_.size());
  const auto got = input_.read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
  end_ += got;
  std::memset(buffer_.data() + end_, 0, kPadding);
  ended_ = got == 0;
  return got > 0;
}

char EventSplitter::peek_at(std::size_t ahead) {
  while (begin_ + ahead >= end_)
    if (!fill()) return '\0';
  return buffer_[begin_ + ahead];
}

void EventSplitter::skip_blank() {
  while (is_blank(peek()))
    ++begin_;
}

void EventSplitter::cut_short(const char* expected) const {
  Place place;
  place.file = input_.name();
  place.byte = offset_ + end_;
  throw UserError(place, std::string("the document ends early, ") + expected);
}

void EventSplitter::no_trace(const char* expected) const {
  Place place;
  place.file = input_.name();
  place.byte = offset_ + begin_;
  throw UserError(place, expected);
}

bool EventSplitter::next(Piece& piece) {
  if (state_ == State::start && !start()) return false;
  if (event_length_ > 0) {
    begin_ += event_length_;
    event_length_ = 0;
  }
  for (;;) {
    if (state_ == State::done) return after_document(piece);
    if (state_ == State::events && next_event(piece)) return true;
    if (state_ == State::members && next_member(piece)) return true;
  }
}

bool EventSplitter::start() {
  if (peek_at(2) != '\0' || end_ - begin_ >= 3)
    if (std::memcmp(buffer_.data() + begin_, "\xef\xbb\xbf", 3) == 0) begin_ += 3;
  skip_blank();
  if (at_end()) {
    Place place;
    place.file = input_.name();
    throw UserError(place, std::string("the file is empty, ") + kTrace);
  }
  const char first = peek();
  if (first != '{' && first != '[') no_trace(kTrace);
  bare_ = first == '[';
  seen_events_ = bare_;
  state_ = bare_ ? State::events : State::members;
  ++begin_;
  return true;
}

/// What follows the document, handed out once.
bool EventSplitter::after_document(Piece& piece) {
  skip_blank();
  if (at_end()) return false;
  piece = {Kind::stray, {}, {}, offset_ + begin_};
  do
    begin_ = end_;
  while (fill());
  return true;
}

bool EventSplitter::next_member(Piece& piece) {
  skip_blank();
  while (peek() == ',') {
    ++begin_;
    skip_blank();
  }
  if (at_end()) cut_short("expected '}' or another key");
  if (peek() == '}') {
    if (!seen_events_) no_trace("expected \"traceEvents\" in this object");
    ++begin_;
    state_ = State::done;
    return false;
  }
  if (peek() != '"') no_trace("expected a key in double quotes");
  take_key();
  skip_blank();
  if (key_ != "traceEvents") {
    take_value(piece);
    return true;
  }
  if (peek() != '[') no_trace("expected an array of events");
  ++begin_;
  seen_events_ = true;
  state_ = State::events;
  return false;
}

void EventSplitter::take_key() {
  const std::size_t length = skip_string(0);
  key_.assign(buffer_.data() + begin_ + 1, length - 2);
  begin_ += length;
  skip_blank();
  if (at_end()) cut_short("expected ':' and a value");
  if (peek() != ':') no_trace("expected ':' after the key");
  ++begin_;
}

/// A quote that no separator follows was not escaped by the writer (seen in INFO lists).
bool EventSplitter::closes_string(std::size_t quote) {
  std::size_t after = quote + 1;
  while (is_blank(peek_at(after)))
    ++after;
  const char c = peek_at(after);
  return c == ',' || c == ':' || c == ']' || c == '}' || c == '\0';
}

/// Length up to and with the closing quote of the string that begins `from` bytes ahead.
std::size_t EventSplitter::skip_string(std::size_t from) {
  for (std::size_t i = from + 1;; ++i) {
    const char c = peek_at(i);
    if (c == '\0' && begin_ + i >= end_) cut_short("expected '\"'");
    if (i - from > kLongest) no_trace("expected the end of this string");
    if (c == '\\')
      ++i;
    else if (c == '"' && closes_string(i))
      return i + 1;
  }
}

void EventSplitter::take_value(Piece& piece) {
  std::int64_t depth = 0;
  std::size_t i = 0;
  std::uint64_t given_up = 0;
  const std::uint64_t start = offset_ + begin_;
  for (;;) {
    const char c = peek_at(i);
    if (c == '\0' && begin_ + i >= end_) cut_short("expected the rest of this value");
    if (depth == 0 && i > 0 && (c == ',' || c == '}' || c == ']' || is_blank(c))) break;
    if (depth == 0 && i == 0 && given_up == 0 && (c == ',' || c == '}' || c == ']'))
      no_trace("expected a value");
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    i = c == '"' ? skip_string(i) : i + 1;
    if (depth == 0 && (c == '}' || c == ']' || c == '"')) break;
    if (i <= kLongest) continue;
    given_up += i;
    begin_ += i;
    i = 0;
  }
  piece.kind = Kind::value;
  piece.key = key_;
  piece.text = given_up ? std::string_view() : std::string_view(buffer_.data() + begin_, i);
  piece.offset = start;
  event_length_ = i;
}

void EventSplitter::leave_events() {
  ++begin_;
  state_ = bare_ ? State::done : State::members;
}

bool EventSplitter::next_event(Piece& piece) {
  while (is_blank(peek()) || peek() == ',')
    ++begin_;
  if (at_end()) cut_short("expected ',' or ']' after an event");
  if (peek() == ']') {
    leave_events();
    return false;
  }
  if (peek() != '{') {
    take_stray(piece);
    return true;
  }
  std::size_t length = 0;
  if (!find_event_end(length)) return resume_after_broken(piece);
  event_length_ = length;
  piece.kind = Kind::event;
  piece.text = std::string_view(buffer_.data() + begin_, length);
  piece.offset = offset_ + begin_;
  return true;
}

/// Something between the events that is no object.
void EventSplitter::take_stray(Piece& piece) {
  piece = {Kind::stray, {}, {}, offset_ + begin_};
  do
    ++begin_;
  while (!at_end() && peek() != ',' && peek() != ']' && peek() != '{');
}

bool EventSplitter::find_event_end(std::size_t& length) {
  BraceScan scan;
  std::size_t done = 0;
  for (;;) {
    while (begin_ + done + kBlock > end_ && fill()) {
    }
    if (begin_ + done >= end_ || done > kLongest) return false;
    if (const int inside = scan.step(buffer_.data() + begin_ + done); inside > 0) {
      length = done + static_cast<std::size_t>(inside);
      return length <= end_ - begin_;
    }
    done += kBlock;
  }
}

/// Finds "}, {" followed by a key of an event; `from` and `to` count from begin_.
bool EventSplitter::next_plausible_start(std::size_t from, std::size_t to, std::size_t& found) {
  for (std::size_t i = from; i < to; ++i) {
    if (peek_at(i) != '}') continue;
    std::size_t at = i + 1;
    while (is_blank(peek_at(at)))
      ++at;
    if (peek_at(at) != ',') continue;
    ++at;
    while (is_blank(peek_at(at)))
      ++at;
    if (peek_at(at) != '{') continue;
    std::size_t key = at + 1;
    while (is_blank(peek_at(key)))
      ++key;
    peek_at(key + 8);
    if (!is_event_key(
            {buffer_.data() + begin_ + key, std::min<std::size_t>(8, end_ - begin_ - key)}))
      continue;
    found = at;
    return true;
  }
  return false;
}

void EventSplitter::reject() {
  std::size_t found = 0;
  if (next_plausible_start(1, event_length_ - 1, found)) event_length_ = found;
}

/// The event has no end: what is between here and the next plausible start is lost.
bool EventSplitter::resume_after_broken(Piece& piece) {
  piece = {Kind::broken, {}, {}, offset_ + begin_};
  std::size_t found = 0;
  while (!next_plausible_start(1, std::max(end_ - begin_, kBlock), found)) {
    if (ended_) cut_short("expected '}' at the end of an event");
    if (end_ - begin_ > kBlock * 2) begin_ = end_ - kBlock;
    fill();
  }
  begin_ += found;
  return true;
}

} // namespace umf::traces::kineto
