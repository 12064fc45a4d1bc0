#include "model/base/histogram.h"

#include "model/base/error.h"

#include <algorithm>
#include <cmath>

namespace umf {
namespace {

constexpr std::uint64_t per_doubling = 128;

/// The middle of the bucket's values, rounded down.
std::uint64_t middle_of(std::size_t bucket) {
  if (bucket < 2 * per_doubling) return bucket;
  const std::uint64_t shift = bucket / per_doubling - 1;
  const std::uint64_t low = (bucket - shift * per_doubling) << shift;
  return low + (((std::uint64_t{1} << shift) - 1) >> 1);
}

} // namespace

void Histogram::add(std::uint64_t value, std::uint64_t count) {
  if (count == 0) return;
  const std::size_t bucket = bucket_of(value);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += count;
  count_ += count;
  sum_ += Wide{value} * count;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t i = 0; i < other.buckets_.size(); ++i)
    buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double Histogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t Histogram::percentile(double percent) const {
  ensure(percent >= 0 && percent <= 100, "a percentile lies between 0 and 100");
  if (count_ == 0) return 0;
  if (percent == 100) return max_;
  // 99.9 is no exact double: without the slack, rank 999.0000001 would become 1000.
  const double exact = percent * static_cast<double>(count_) / 100;
  const auto rank = static_cast<std::uint64_t>(std::ceil(exact * (1 - 1e-12)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (buckets_[i] > 0 && seen >= rank) return std::clamp(middle_of(i), min_, max_);
  }
  return max_;
}

} // namespace umf
