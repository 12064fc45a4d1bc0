#pragma once

#include <string>
#include <vector>

namespace umf::test {

/// What is replayed, and how, to see whether a key does something.
struct Situation {
  std::vector<std::string> traces; ///< of `traces/`; several are tenants
  std::vector<std::string> sets;   ///< as `--set` takes them
  /// Pointers begin like this. Empty: for every key. Else for these alone, and tried first.
  std::vector<std::string> keys;
  /// What the key changes is how much is written down, not what.
  bool lengths = false;
  /// Not empty: an address trace, at line resolution, through the memory of this name.
  std::string tier{};
};

/// Machines that lack what a situation sets leave it out.
const std::vector<Situation>& situations();

/// Keys that may do nothing, on which machines (none named: all that have it), and why.
struct Exception {
  std::string pointer;
  std::vector<std::string> machines;
  std::string reason;
};

const std::vector<Exception>& exceptions();

} // namespace umf::test
