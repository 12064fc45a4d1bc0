#include "hw/gpu/chase.h"

#include "hw/gpu/line_cache.h"
#include "model/base/random.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace umf::hw {

namespace {

constexpr std::uint64_t kLine = 64;       ///< what a miss of the L2 fetches
constexpr int kWarmUp = 4, kMeasured = 2; ///< rounds
constexpr std::uint64_t kBeyond = 4;      ///< an array so many times the L2 is as it is at once
/// Beyond this the array and the caches are both played at a sixteenth of their size: sets do not
/// know of one another, so one in sixteen tells of all.
constexpr std::uint64_t kLargeArray = std::uint64_t{4} << 20;
constexpr std::uint64_t kSampled = 16;

std::vector<std::uint64_t> drawn_round(std::uint64_t lines) {
  std::vector<std::uint64_t> round(lines);
  std::iota(round.begin(), round.end(), 0);
  for (std::uint64_t i = lines; i > 1; --i)
    std::swap(round[i - 1], round[mix_bits(i) % i]);
  return round;
}

} // namespace

Chase chase(const GpuConfig& config, Bytes array, Femtoseconds memory) {
  const std::uint64_t part = array.count > kLargeArray ? kSampled : 1;
  const std::uint64_t half = config.l2.capacity.count / 2 / kLine / part;
  LineCache l1(
      {config.l1.capacity.count / kLine / part, config.l1.ways, Replacement::least_recent, true});
  const LineCache::Options partition{half, config.l2.ways, Replacement::not_recent, false};
  LineCache near(partition), far(partition);
  std::uint64_t hits[4] = {};
  const auto load = [&](std::uint64_t line) {
    if (l1.use(line).hit) return 0;
    const LineCache::Outcome outcome = near.use(line);
    if (outcome.hit) return 1;
    const bool elsewhere = far.take_out(line);
    if (outcome.evicted) far.use(*outcome.evicted);
    return elsewhere ? 2 : 3;
  };
  const auto round = drawn_round(std::max<std::uint64_t>(array.count / kLine / part, 1));
  const bool beyond = array.count > kBeyond * config.l2.capacity.count;
  const int warm_up = beyond ? 1 : kWarmUp, measured = beyond ? 1 : kMeasured;
  for (int lap = 0; lap < warm_up + measured; ++lap)
    for (const std::uint64_t line : round) {
      const int where = load(line);
      if (lap >= warm_up) ++hits[where];
    }
  const double loads = static_cast<double>(round.size()) * measured;
  Chase result;
  result.l1 = static_cast<double>(hits[0]) / loads;
  result.near = static_cast<double>(hits[1]) / loads;
  result.far = static_cast<double>(hits[2]) / loads;
  result.memory = static_cast<double>(hits[3]) / loads;
  const Femtoseconds hit{(config.l2.near_latency.count + config.l2.far_latency.count) / 2};
  const Femtoseconds miss = hit + config.l2.miss_latency + memory;
  result.latency = {
      static_cast<std::int64_t>(result.l1 * static_cast<double>(config.l1.latency.count) +
                                result.near * static_cast<double>(config.l2.near_latency.count) +
                                result.far * static_cast<double>(config.l2.far_latency.count) +
                                result.memory * static_cast<double>(miss.count))};
  return result;
}

} // namespace umf::hw
