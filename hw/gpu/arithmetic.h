#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// The arithmetic of a GPU, shared by the operations that have some to do. Plain class; time is an
/// argument.
///
/// Model: work counts in seconds of the whole device. Rates are weighted max-min fair, as in
/// FlowNetwork: nobody exceeds the part of the device that its blocks occupy, all together do not
/// exceed the device. Bytes and arithmetic share nothing, so it stands apart from the flows.
class Arithmetic {
public:
  /// More work for `who`, beside what it has left. `part` of the device, in (0, 1]; `weight` > 0;
  /// both as they were given first while it has work left.
  void add(Femtoseconds now, std::uint32_t who, double seconds, double part, double weight);

  /// When the next one runs out of work, rounded up; max() when nobody has any.
  Femtoseconds next_end() const { return next_end_; }
  /// Moves to `now` ≤ next_end() and appends those who ran out of work, oldest first.
  void advance(Femtoseconds now, std::vector<std::uint32_t>& ended);

private:
  struct Job {
    std::uint32_t who = 0;
    double left = 0, part = 1, weight = 1; ///< left at `since_`
    double rate = 0;
    std::int64_t ends = 0;
  };
  void move_to(Femtoseconds now);
  void share();

  std::vector<Job> jobs_; ///< by age
  Femtoseconds since_{}, next_end_ = kNever;
  static constexpr Femtoseconds kNever{INT64_MAX};
};

} // namespace umf::hw
