#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <queue>
#include <vector>

namespace umf::hw {

/// Pending instants of one module: earliest first, equal instants in order of setting.
template <class What>
class TimerQueue {
public:
  void at(Femtoseconds when, What what) { queue_.push({when.count, serial_++, what}); }
  bool empty() const { return queue_.empty(); }
  Femtoseconds next() const { return {queue_.top().when}; }
  What take() {
    const What what = queue_.top().what;
    queue_.pop();
    return what;
  }

private:
  struct Entry {
    std::int64_t when;
    std::uint64_t serial;
    What what;
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : serial > other.serial;
    }
  };
  std::priority_queue<Entry> queue_;
  std::uint64_t serial_ = 0;
};

} // namespace umf::hw
