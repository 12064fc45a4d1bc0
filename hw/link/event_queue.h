#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace umf::hw::link {

inline constexpr Femtoseconds kNever{std::numeric_limits<std::int64_t>::max() / 4};

/// What happens, to which part of the network, with what.
struct Event {
  Femtoseconds at;
  std::uint64_t serial; ///< events of one instant happen in the order they were made
  std::uint32_t kind, part;
  std::uint64_t with;
};

/// A heap of four children a node: shallow, and one node's children share a cache line or two.
class EventQueue {
public:
  bool empty() const { return heap_.empty(); }
  Femtoseconds next() const { return heap_.empty() ? kNever : heap_.front().at; }
  void push(Femtoseconds at, std::uint32_t kind, std::uint32_t part, std::uint64_t with = 0) {
    const Event event{at, serial_++, kind, part, with};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(event, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }
  /// There must be one.
  Event pop() {
    const Event top = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return top;
  }

private:
  static bool before(const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.serial < b.serial;
  }
  void sink(const Event& event) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = 4 * hole + 1;
      if (first >= size) break;
      std::size_t least = first;
      for (std::size_t i = first + 1; i < first + 4 && i < size; ++i)
        if (before(heap_[i], heap_[least])) least = i;
      if (!before(heap_[least], event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
  std::uint64_t serial_ = 0;
};

} // namespace umf::hw::link
