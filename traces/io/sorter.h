#pragma once

#include "model/base/error.h"
#include "model/base/units.h"
#include "traces/io/spill.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace umf::traces::io {

/// Flat records in order, equal ones as they were added, readable many times. External
/// merge sort: while they fit in `memory` they stay where they were put and only their
/// numbers are sorted; beyond that, sorted runs in a temporary file and a k-way merge.
///
/// `Less` orders two records; it must be a stateless function object.
template <class Record, class Less>
class Sorter {
  static_assert(std::is_trivially_copyable_v<Record>);

public:
  explicit Sorter(Bytes memory)
      : most_(std::max<std::uint64_t>(1, memory.count / (sizeof(Record) + sizeof(Number)))) {}

  void add(const Record& record) {
    if (count_ == most_) write_run();
    if (count_ >> kShift == blocks_.size()) {
      blocks_.emplace_back();
      blocks_.back().reserve(kPerBlock);
    }
    if (count_ > 0 && in_order_) in_order_ = !Less()(record, at(count_ - 1));
    blocks_[count_++ >> kShift].push_back(record);
  }

  /// Ends adding and goes to the smallest. Required before next().
  void sort() {
    if (!runs_.empty() && count_ > 0) write_run();
    if (runs_.empty()) {
      sort_memory();
    } else {
      free_memory();
    }
    rewind();
  }

  /// To the smallest record again.
  void rewind() {
    next_ = 0;
    heap_.clear();
    for (Number r = 0; r < runs_.size(); ++r) {
      runs_[r].at = runs_[r].begin;
      runs_[r].window.clear();
      runs_[r].used = 0;
      if (load(runs_[r])) heap_.push_back(r);
    }
    std::make_heap(heap_.begin(), heap_.end(), Later{runs_});
  }

  /// The smallest record left, valid until the next call; null at the end.
  const Record* next() {
    if (runs_.empty()) return next_ == count_ ? nullptr : &at(number(next_++));
    if (heap_.empty()) return nullptr;
    std::pop_heap(heap_.begin(), heap_.end(), Later{runs_});
    Run& run = runs_[heap_.back()];
    current_ = run.window[run.used++];
    if (load(run))
      std::push_heap(heap_.begin(), heap_.end(), Later{runs_});
    else
      heap_.pop_back();
    return &current_;
  }

  /// Forgets all records and gives their memory back.
  void clear() {
    free_memory();
    runs_.clear();
    heap_.clear();
    file_ = SpillFile();
    next_ = 0;
  }

private:
  using Number = std::uint32_t;
  // Blocks are small enough that the allocator hands them from one sorter to the next.
  static constexpr std::size_t kPerBlock =
      std::bit_floor(std::max<std::size_t>(1, (std::size_t{1} << 16) / sizeof(Record)));
  static constexpr std::size_t kShift = std::countr_zero(kPerBlock);
  static constexpr std::size_t kMask = kPerBlock - 1;

  struct Run {
    std::uint64_t begin = 0, end = 0; ///< bytes of the file
    std::uint64_t at = 0;             ///< next byte to read
    std::vector<Record> window;
    std::size_t used = 0;
  };
  /// Runs were written one after the other, so among equals the earlier run comes first.
  struct Later {
    const std::vector<Run>& runs;
    bool operator()(Number a, Number b) const {
      const Record& left = runs[a].window[runs[a].used];
      const Record& right = runs[b].window[runs[b].used];
      if (Less()(right, left)) return true;
      return !Less()(left, right) && b < a;
    }
  };

  Record& at(std::uint64_t i) { return blocks_[i >> kShift][i & kMask]; }
  Number number(std::uint64_t i) const { return in_order_ ? static_cast<Number>(i) : order_[i]; }

  void sort_memory() {
    if (in_order_) return;
    order_.resize(count_);
    for (Number i = 0; i < count_; ++i)
      order_[i] = i;
    std::sort(order_.begin(), order_.end(), [this](Number a, Number b) {
      if (Less()(at(a), at(b))) return true;
      return a < b && !Less()(at(b), at(a));
    });
  }

  void write_run() {
    sort_memory();
    Run run;
    run.begin = file_.size();
    std::vector<Record> out;
    out.reserve(std::min<std::uint64_t>(kPerBlock, count_));
    for (std::uint64_t i = 0; i < count_; ++i) {
      out.push_back(at(number(i)));
      if (out.size() == kPerBlock || i + 1 == count_) {
        file_.append({reinterpret_cast<const char*>(out.data()), out.size() * sizeof(Record)});
        out.clear();
      }
    }
    run.end = file_.size();
    runs_.push_back(std::move(run));
    for (auto& block : blocks_)
      block.clear();
    count_ = 0;
    in_order_ = true;
  }

  /// Sees to it that the run's next record is in its window; false at the run's end.
  bool load(Run& run) {
    if (run.used < run.window.size()) return true;
    const std::uint64_t left = (run.end - run.at) / sizeof(Record);
    const std::uint64_t share = std::clamp<std::uint64_t>(most_ / runs_.size(), 1, kPerBlock);
    run.window.resize(std::min(left, share));
    run.used = 0;
    const std::size_t bytes = run.window.size() * sizeof(Record);
    for (std::size_t got = 0; got < bytes;) {
      const auto more =
          file_.read(run.at + got, reinterpret_cast<char*>(run.window.data()) + got, bytes - got);
      ensure(more > 0, "a temporary file is shorter than what was written");
      got += more;
    }
    run.at += bytes;
    return !run.window.empty();
  }

  void free_memory() {
    blocks_.clear();
    order_ = std::vector<Number>();
    count_ = 0;
    in_order_ = true;
  }

  std::uint64_t most_; ///< records in memory
  std::uint64_t count_ = 0, next_ = 0;
  bool in_order_ = true; ///< those in memory came in order
  std::vector<std::vector<Record>> blocks_;
  std::vector<Number> order_;
  SpillFile file_;
  std::vector<Run> runs_;
  std::vector<Number> heap_;
  Record current_{};
};

} // namespace umf::traces::io
