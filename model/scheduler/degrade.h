#pragma once

#include "model/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

/// S7: when a pool behind a bad way is spared, and when it is used again.
namespace umf::scheduler {

/// How the way to a tier is, as links and sensors report it.
struct Condition {
  double rate = 1;   ///< of what was configured, after training: the slowest link of the way
  double errors = 0; ///< share of packets that arrive wrong and are sent again
  bool hot = false;  ///< whoever watches temperatures asks to spare it
  bool operator==(const Condition&) const = default;
};

struct Degrading {
  double below = 0.6;                      ///< of the configured rate; 0: never by rate
  double recover_above = 0.9;              ///< likewise
  Femtoseconds recover_after = 1000000_ns; ///< for so long without a break
  double errors = 1e-3;                    ///< share of packets; 0: never by errors
  bool operator==(const Degrading&) const = default;
};

/// Why a tier became read-only. The first that holds, in this order.
enum class Trigger : std::uint8_t { rate, errors, heat };
inline constexpr std::size_t kTriggers = 3;
inline constexpr std::array<std::string_view, kTriggers> kTriggerNames = {"rate", "errors", "heat"};

inline constexpr Femtoseconds kNever{std::numeric_limits<std::int64_t>::max()};

/// The way to one tier. It closes at once and opens once nothing has been wrong with it for
/// recover_after, so that a link that comes and goes closes it once.
class Degrade {
public:
  explicit Degrade(const Degrading& settings) : settings_(settings) {}

  /// The way is so from `now` on; what was due() before then has been open()ed. Why it closes now.
  std::optional<Trigger> set(const Condition& condition, Femtoseconds now);
  bool closed() const { return closed_; }
  /// When it is to be opened, if nothing changes until then; kNever: not before something does.
  Femtoseconds due() const { return due_; }
  void open();

private:
  std::optional<Trigger> fault_of(const Condition& condition) const;
  bool recovered(const Condition& condition) const;

  Degrading settings_;
  bool closed_ = false;
  Femtoseconds due_ = kNever;
};

} // namespace umf::scheduler
