#pragma once

#include "traces/io/input.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace umf::traces::jsonl {

/// Cuts a text into lines, holding one line and a block of the text.
class Lines {
public:
  explicit Lines(io::Input input);

  /// The next line without its end, or false. kPadding readable bytes follow it.
  /// Throws UserError for a line above kLongest bytes.
  bool next(std::string_view& line);
  /// Of the line last given, from 1.
  int number() const { return number_; }
  const std::string& name() const { return input_.name(); }

  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kLongest = std::size_t{256} << 20;

private:
  bool fill();

  io::Input input_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0; ///< of what is not given yet
  std::size_t end_ = 0;
  int number_ = 0;
};

} // namespace umf::traces::jsonl
