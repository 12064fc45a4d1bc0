#pragma once

#include "traces/io/input.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umf::traces::kineto {

/// Cuts a Chrome trace into the texts of its events and of its other top-level values,
/// in bounded memory. It knows strings, escapes and braces only, so a fault inside one
/// event stays inside it. Throws UserError when the document is no trace or is cut short.
class EventSplitter {
public:
  /// broken: an event without an end, left out; stray: text where an event was expected.
  enum class Kind { event, value, stray, broken };

  struct Piece {
    Kind kind = Kind::event;
    std::string_view key;     ///< of a top-level value
    std::string_view text;    ///< readable kPadding bytes past its end; valid until next()
    std::uint64_t offset = 0; ///< of the text, in the decompressed file
  };

  /// Zero bytes kept after the text for readers that look ahead.
  static constexpr std::size_t kPadding = 64;
  /// Longer events and values are given up.
  static constexpr std::size_t kLongest = std::size_t{4} << 20;

  explicit EventSplitter(io::Input& input);

  bool next(Piece& piece);

  /// Says that the event just handed out could not be parsed: if a quote is missing it may
  /// have swallowed its successors, so reading resumes at the first plausible start of an
  /// event within it. The text is no longer valid.
  void reject();

private:
  enum class State { start, members, events, done };

  bool fill();
  char peek_at(std::size_t ahead);
  char peek() { return peek_at(0); }
  void skip_blank();
  bool at_end() { return peek() == '\0' && begin_ == end_; }
  [[noreturn]] void cut_short(const char* expected) const;
  [[noreturn]] void no_trace(const char* expected) const;

  bool start();
  bool next_member(Piece& piece);
  bool next_event(Piece& piece);
  bool after_document(Piece& piece);
  void leave_events();
  void take_key();
  void take_value(Piece& piece);
  void take_stray(Piece& piece);
  std::size_t skip_string(std::size_t from);
  bool closes_string(std::size_t quote);
  bool find_event_end(std::size_t& length);
  bool next_plausible_start(std::size_t from, std::size_t to, std::size_t& found);
  bool resume_after_broken(Piece& piece);

  io::Input& input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0; ///< of the first byte still needed
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0; ///< of buffer_[0]
  bool ended_ = false;
  State state_ = State::start;
  bool bare_ = false;
  bool seen_events_ = false;
  std::size_t event_length_ = 0;
  std::string key_;
};

} // namespace umf::traces::kineto
