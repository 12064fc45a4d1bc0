#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace umf::policy {

/// Free frames of a memory at every step of a run: a tree over the steps, so that taking frames
/// for a stretch of them, and asking for the least free in it, cost a logarithm.
class Room {
public:
  Room(std::size_t steps, std::uint64_t frames)
      : steps_(std::max<std::size_t>(steps, 1)), nodes_(4 * steps_) {
    nodes_[0].least = nodes_[0].added = static_cast<std::int64_t>(frames);
  }

  /// The least free at any step of [begin, end), which is not empty.
  std::uint64_t least(std::size_t begin, std::size_t end) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(least(0, 0, steps_, begin, end), 0));
  }
  void take(std::size_t begin, std::size_t end, std::uint64_t frames) {
    add(0, 0, steps_, begin, end, -static_cast<std::int64_t>(frames));
  }

private:
  /// `least` of its steps, without what was added to nodes above it.
  struct Node {
    std::int64_t least = 0, added = 0;
  };

  std::int64_t least(std::size_t node, std::size_t from, std::size_t to, std::size_t begin,
                     std::size_t end) const {
    if (begin <= from && to <= end) return nodes_[node].least;
    const std::size_t middle = from + (to - from) / 2;
    std::int64_t found = INT64_MAX;
    if (begin < middle) found = std::min(found, least(2 * node + 1, from, middle, begin, end));
    if (end > middle) found = std::min(found, least(2 * node + 2, middle, to, begin, end));
    return found + nodes_[node].added;
  }

  void add(std::size_t node, std::size_t from, std::size_t to, std::size_t begin, std::size_t end,
           std::int64_t frames) {
    Node& at = nodes_[node];
    if (begin <= from && to <= end) {
      at.least += frames;
      at.added += frames;
      return;
    }
    const std::size_t middle = from + (to - from) / 2;
    if (begin < middle) add(2 * node + 1, from, middle, begin, end, frames);
    if (end > middle) add(2 * node + 2, middle, to, begin, end, frames);
    at.least = std::min(nodes_[2 * node + 1].least, nodes_[2 * node + 2].least) + at.added;
  }

  std::size_t steps_;
  std::vector<Node> nodes_;
};

} // namespace umf::policy
