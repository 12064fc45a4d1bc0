#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace umf::app {

/// What of an iteration's time is owed to what, at the peak rates of the machine, in seconds: a
/// coordinate to tell iterations apart by, not a prediction.
struct IterationWork {
  enum Part : std::uint8_t { products, attention, weights, near_cache, far_cache, accesses };
  static constexpr std::size_t kParts = 6;
  std::array<double, kParts> seconds{};

  double total() const;
};

/// Iterations that do alike work take alike time: one that was simulated stands for those in which
/// each part of the work is the same to within `tolerance` of the whole, scaled by the whole. Every
/// `check_every`-th that could be folded so is simulated all the same, and the two are compared.
class AlikeIterations {
public:
  /// `tolerance`: 0 folds nothing.
  AlikeIterations(double tolerance, std::uint32_t check_every)
      : tolerance_(tolerance), check_every_(check_every) {}

  /// The time it takes, where that is known; without one it is to be simulated, and learn() told.
  std::optional<double> foresee(const IterationWork& work);
  /// Of the iteration that foresee() was asked for last.
  void learn(const IterationWork& work, double seconds);

  /// How far off those were that were simulated although they could have been folded.
  struct Check {
    std::uint64_t folded = 0, checked = 0;
    double foreseen = 0, simulated = 0; ///< seconds, of all checked
    double worst = 0;                   ///< share of the simulated time, with its sign

    double error() const { return simulated > 0 ? foreseen / simulated - 1 : 0; } ///< of the sum
  };
  const Check& check() const { return check_; }

private:
  /// The whole on a logarithmic scale, then each part by steps of the tolerance of it.
  using Cell = std::array<std::int32_t, IterationWork::kParts + 1>;
  struct Sample {
    double total = 0, seconds = 0;
  };
  Cell cell_of(const IterationWork& work) const;

  double tolerance_;
  std::uint32_t check_every_;
  std::map<Cell, Sample> samples_;
  std::uint64_t could_fold_ = 0;
  std::optional<double> unfolded_; ///< what was foreseen of the one being checked
  Check check_;
};

} // namespace umf::app
