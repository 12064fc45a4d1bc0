#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace umf {

/// Distribution of unsigned integers in log-linear buckets: exact below 256,
/// 128 buckets for each doubling above, so a percentile is off by at most
/// relative_error(). Count, mean, least and largest are exact.
class Histogram {
public:
  static constexpr double relative_error() { return 1.0 / 128; }

  void add(std::uint64_t value, std::uint64_t count = 1);
  void merge(const Histogram& other);

  std::uint64_t count() const { return count_; }
  /// Of an empty histogram, these are 0.
  double mean() const;
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  /// Nearest rank: the value that at least `percent` (0 to 100) of all do not exceed.
  std::uint64_t percentile(double percent) const;

private:
  __extension__ using Wide = unsigned __int128;

  std::vector<std::uint64_t> buckets_; ///< up to the last that was needed
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

} // namespace umf
