#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace umf {

/// Where in the user's input something is wrong. Unknown parts stay empty.
struct Place {
  std::string file;
  int line = 0;                        ///< from 1; 0 when unknown
  int column = 0;                      ///< from 1, in bytes; 0 when unknown
  std::string pointer;                 ///< JSON pointer, for scenarios
  std::optional<std::uint64_t> byte{}; ///< offset in the (decompressed) file, for traces

  /// "file:line:column: /pointer" or "file@byte", whatever is known; never ends in a separator.
  std::string text() const;
};

/// A fault of the user's input or usage: one line, "place: what, expected what". Exit status 2.
class UserError : public std::runtime_error {
public:
  UserError(Place place, const std::string& message);
  explicit UserError(const std::string& message);
  const Place& place() const { return place_; }

private:
  Place place_;
};

/// A broken invariant of the simulator itself; loud in release builds too.
class InvariantError : public std::logic_error {
  using std::logic_error::logic_error;
};

/// Throws InvariantError(message) unless `holds`.
inline void ensure(bool holds, const char* message) {
  if (!holds) throw InvariantError(message);
}

} // namespace umf
