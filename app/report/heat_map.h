#pragma once

#include "model/stream/records.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace umf::app {

/// What a stream's steps read in one layer of a sequence's KV cache and of the experts, as
/// pictures: place by step, the darker the more. Feed every record in order.
class HeatMap {
public:
  /// Of at most so many cells each way; steps and places that are more fall together.
  static constexpr std::uint64_t kRows = 96, kColumns = 128;

  HeatMap(std::uint64_t steps, std::uint32_t layer, std::uint32_t experts)
      : steps_(steps), layer_(static_cast<std::int32_t>(layer)), experts_(experts) {}

  void add(const stream::Record& record);
  std::string svg() const;

private:
  /// Reads by row and column, as shares of what a cell can have.
  struct Cells {
    std::vector<double> heat = std::vector<double>(kRows * kColumns);
    bool any = false;
  };

  void add(const stream::Kernel& kernel);
  void add_keys(const stream::Access& access, std::uint64_t bytes);
  std::uint64_t column() const;
  std::uint64_t columns() const { return std::min(kColumns, steps_); }
  std::string panel(const Cells& cells, double top, const std::string& title,
                    const std::string& below) const;

  std::uint64_t steps_, step_ = 0;
  bool began_ = false;
  std::int32_t layer_;
  std::uint32_t experts_;
  std::map<stream::TensorId, std::uint64_t> keys_;       ///< of sequence 0: bytes
  std::map<stream::TensorId, std::uint64_t> experts_at_; ///< in their order
  Cells pages_, used_;
};

} // namespace umf::app
