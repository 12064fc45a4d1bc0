#include "hw/platform/replay_host.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

namespace umf::hw {

namespace {

/// Half of what 64 bits of femtoseconds hold: room for what the machine adds.
constexpr std::int64_t kLongest = std::int64_t{1} << 62;

[[noreturn]] void too_long() {
  throw UserError("the recorded times lie further apart than simulated time holds, expected a "
                  "trace of at most 4600 s, or --replay closed");
}

Femtoseconds checked(std::int64_t ns) {
  std::int64_t fs = 0;
  if (__builtin_mul_overflow(ns, std::int64_t{1'000'000}, &fs) || fs > kLongest || fs < -kLongest)
    too_long();
  return {fs};
}

std::int64_t difference(std::int64_t later, std::int64_t earlier) {
  std::int64_t ns = 0;
  if (__builtin_sub_overflow(later, earlier, &ns)) too_long();
  return ns;
}

/// Both at most kLongest and `gap` not negative.
Femtoseconds after(Femtoseconds from, Femtoseconds gap) {
  if (from.count > kLongest - gap.count) too_long();
  return from + gap;
}

} // namespace

HostOddities& HostOddities::operator+=(const HostOddities& other) {
  untimed += other.untimed;
  backwards += other.backwards;
  untimed_waits += other.untimed_waits;
  return *this;
}

void HostClock::begin(Femtoseconds now) {
  begin_ = host_ = now;
  recorded_.reset();
  gap_lost_ = false;
}

Femtoseconds HostClock::issue(const Times& times) {
  switch (mode_) {
  case ReplayMode::closed:
    return begin_;
  case ReplayMode::open:
    return host_ = issue_open(times);
  case ReplayMode::hybrid:
    break;
  }
  if (!times.issue_ns)
    ++oddities_.untimed;
  else
    pass(*times.issue_ns);
  return host_;
}

Femtoseconds HostClock::issue_open(const Times& times) {
  if (!times.issue_ns && !times.start_ns) {
    ++oddities_.untimed;
    return host_;
  }
  const std::int64_t recorded = times.issue_ns ? *times.issue_ns : *times.start_ns;
  if (!origin_) {
    origin_ = recorded;
    origin_launch_ = times.issue_ns ? Femtoseconds{} : times.launch;
  }
  Femtoseconds offset = checked(difference(recorded, *origin_)) + origin_launch_;
  if (!times.issue_ns) offset -= times.launch;
  const bool early = offset.count < 0;
  const Femtoseconds when = early ? begin_ : after(begin_, offset);
  if (early || (times.stream_before && when < *times.stream_before)) ++oddities_.backwards;
  return when;
}

/// The host works on to a recorded instant.
void HostClock::pass(std::int64_t recorded_ns) {
  const bool first = !recorded_ || std::exchange(gap_lost_, false);
  const std::int64_t gap = first ? 0 : difference(recorded_ns, *recorded_);
  if (gap < 0) {
    ++oddities_.backwards;
    return;
  }
  host_ = after(host_, checked(gap));
  recorded_ = recorded_ns;
}

void HostClock::reach_wait(std::optional<std::int64_t> start_ns) {
  if (start_ns) pass(*start_ns);
}

void HostClock::resume(Femtoseconds done, std::optional<std::int64_t> end_ns) {
  host_ = std::max(host_, done);
  if (!end_ns) {
    ++oddities_.untimed_waits;
    gap_lost_ = true;
  } else if (!recorded_ || *end_ns > *recorded_) {
    recorded_ = end_ns;
    gap_lost_ = false;
  }
}

} // namespace umf::hw
