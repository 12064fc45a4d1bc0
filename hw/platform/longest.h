#pragma once

#include "model/base/units.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace umf::hw {

/// Keeps the longest so many of any number of spans; of equals those that came first. Memory is
/// bounded by the number kept.
template <class What>
class Longest {
public:
  explicit Longest(std::uint64_t most) : most_(most) {}

  void add(Femtoseconds length, What what) {
    const Entry entry{length.count, seen_++, std::move(what)};
    if (heap_.size() == most_) {
      if (most_ == 0 || !longer(entry, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), longer);
      heap_.pop_back();
    }
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), longer);
  }

  std::uint64_t seen() const { return seen_; }
  std::uint64_t left_out() const { return seen_ - heap_.size(); }

  /// In the order they came.
  std::vector<What> kept() const {
    std::vector<Entry> entries = heap_;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.serial < b.serial; });
    std::vector<What> list;
    list.reserve(entries.size());
    for (Entry& entry : entries)
      list.push_back(std::move(entry.what));
    return list;
  }

private:
  struct Entry {
    std::int64_t length;
    std::uint64_t serial;
    What what;
  };
  static bool longer(const Entry& a, const Entry& b) {
    return a.length != b.length ? a.length > b.length : a.serial < b.serial;
  }

  std::uint64_t most_, seen_ = 0;
  std::vector<Entry> heap_; ///< the shortest kept, and last come of equals, on top
};

} // namespace umf::hw
