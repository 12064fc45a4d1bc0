#pragma once

#include <algorithm>
#include <bit>
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

  void add(std::uint64_t value) {
    const std::size_t bucket = bucket_of(value);
    if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
    ++buckets_[bucket];
    ++count_;
    sum_ += value;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void add(std::uint64_t value, std::uint64_t count);
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
  static constexpr unsigned kDoublingBits = 7; ///< 128 buckets for each doubling

  static std::size_t bucket_of(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value | 255U));
    const unsigned shift = width - kDoublingBits - 1;
    return (std::size_t{shift} << kDoublingBits) + static_cast<std::size_t>(value >> shift);
  }

  std::vector<std::uint64_t> buckets_; ///< up to the last that was needed
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

} // namespace umf
