#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace umf::hw {

/// Which line of a full set gives way: the one longest unused, or a drawn one of those not used
/// since all of the set had been.
enum class Replacement : std::uint8_t { least_recent, not_recent };

/// A set-associative cache, line by line and without data or time. Lines are named by numbers.
class LineCache {
public:
  struct Options {
    std::uint64_t lines = 1; ///< sets × ways; rounded down to whole sets, at least one
    std::uint32_t ways = 1;
    Replacement replacement = Replacement::least_recent;
    bool hashed = false; ///< sets are drawn by line; else lines take turns at the sets
  };
  explicit LineCache(const Options& options);

  struct Outcome {
    bool hit = false;
    std::optional<std::uint64_t> evicted; ///< to make room
  };
  /// Uses the line, and takes it in where it was not there.
  Outcome use(std::uint64_t line);
  /// Whether it was there; it is not any more.
  bool take_out(std::uint64_t line);

private:
  struct Way {
    std::uint64_t line = 0;
    std::uint64_t used = 0; ///< when; 0: empty
    bool recent = false;
  };
  Way* set_of(std::uint64_t line);
  Way& victim(Way* set);

  Options options_;
  std::uint64_t sets_;
  std::vector<Way> ways_;
  std::uint64_t uses_ = 0, drawn_ = 0;
};

} // namespace umf::hw
