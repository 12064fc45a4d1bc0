#pragma once

#include "model/base/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace umf::hw {

/// A time series that stays small however long time goes on: rows are windows of equal length
/// from 0 on, and once `most` of them are full, neighbours are joined in pairs and windows last
/// twice as long. Joining adds what was counted, so sums over all windows never change.
class Windows {
public:
  /// How a column came to its value, and how two windows are joined.
  enum class Kind : std::uint8_t {
    counted, ///< what has been added to a counter since the window before
    level,   ///< as it stands at the end
    elapsed, ///< the same, of a counter of femtoseconds
    spread   ///< femtoseconds, put into windows by add()
  };
  struct Column {
    std::string name;
    Kind kind = Kind::counted;
  };

  /// `most`: even, at least 2.
  Windows(Femtoseconds width, std::uint64_t most, std::vector<Column> columns);

  Femtoseconds width() const { return width_; }
  const std::vector<Column>& columns() const { return columns_; }

  /// Where the open window ends: close() is due then.
  Femtoseconds border() const { return width_ * static_cast<std::int64_t>(closed_ + 1); }
  /// Ends the open window. `state` holds for each column the counter's value or the level, at
  /// border(); of spread columns it is ignored. Counters never fall.
  void close(const std::vector<std::uint64_t>& state);
  /// Adds to a spread column at an instant before border().
  void add(std::size_t column, Femtoseconds at, std::uint64_t amount);
  /// The run is over; `end` ≤ border(). Nothing may follow.
  void finish(Femtoseconds end, const std::vector<std::uint64_t>& state);

  std::size_t rows() const { return closed_; }
  Femtoseconds start(std::size_t row) const { return width_ * static_cast<std::int64_t>(row); }
  Femtoseconds length(std::size_t row) const;
  std::uint64_t at(std::size_t row, std::size_t column) const {
    return values_[row * columns_.size() + column];
  }
  /// Of a column that is counted or spread.
  std::uint64_t sum(std::size_t column) const;

private:
  void put(std::size_t row, const std::vector<std::uint64_t>& state);
  void join_pairs();

  Femtoseconds width_, end_{-1};
  std::uint64_t most_;
  std::vector<Column> columns_;
  std::size_t closed_ = 0;
  std::vector<std::uint64_t> values_; ///< by row; the open window is the last one
  std::vector<std::uint64_t> last_;   ///< counters at the last close
};

} // namespace umf::hw
