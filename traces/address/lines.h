#pragma once

#include "traces/io/input.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace umf::traces::address {

/// Cuts a text into lines within one block of memory.
class Lines {
public:
  explicit Lines(io::Input input);

  /// The next line without its end ("\n" or "\r\n"), or false; valid until the next call.
  /// Throws UserError for a line above kLongest bytes.
  bool next(std::string_view& line);
  /// The line last given comes once more.
  void again();
  /// Of the line last given, from 1.
  std::uint64_t number() const { return number_; }
  const std::string& name() const { return input_.name(); }

  static constexpr std::size_t kLongest = 4 << 10;

private:
  bool fill();

  io::Input input_;
  std::vector<char> block_;
  std::size_t line_ = 0;  ///< begin of the line last given
  std::size_t begin_ = 0; ///< of what is not given yet
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
};

} // namespace umf::traces::address
