#pragma once

#include "app/run/finished.h"
#include "app/run/variants.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What bounded a finished run, what each mechanism of its policy was worth and what would be
/// faster: which reruns say so, and their results.
namespace umf::app {

/// Shares of time below this are no difference.
inline constexpr double kNoDifference = 0.005;
/// Changes tried at most.
inline constexpr std::size_t kMostTries = 8;

/// A share of the simulated time.
struct Blame {
  std::string name; ///< of a limit (hw::limits_of), else of the cause
  double share = 0;
  bool liftable = false;
};

/// Where time went, as the limits that would have to be lifted; largest share first. Of several
/// links the summary does not say which: they are blamed together, as "links".
std::vector<Blame> blames(const nlohmann::ordered_json& summary,
                          const std::vector<std::string>& limits);

/// The limits in the order in which lifting them is worth a try: those blamed most first, a link by
/// how busy it was.
std::vector<std::string> by_blame(const nlohmann::ordered_json& summary,
                                  std::vector<std::string> limits);

/// How many of each kind fit.
struct Shares {
  std::size_t limits = 0, mechanisms = 0, tries = 0;
};
/// Of `reruns` one repeats the run itself. A third of the rest is kept for changes, the limits get
/// half of what is left, and what one kind does not need the others get.
Shares shared_out(std::size_t reruns, std::size_t limits, std::size_t mechanisms);

/// Reruns that fit into `within_seconds`, two at a time, each as long as the run itself took.
std::size_t reruns_within(double within_seconds, double wall_seconds);

/// A change of the scenario that may be faster.
struct Change {
  std::string name;              ///< "one more link on gpu0-sw0, sw0-cxl"
  std::string why;               ///< what of the run suggests it, and what it costs
  std::vector<std::string> sets; ///< --set overlays, behind those of the run
};

struct Changes {
  std::vector<Change> tries; ///< the most promising first
  /// What the scenario checker refuses, with its reason in `why`.
  std::vector<Change> refused;
};

/// What the summary suggests to change. `links_gain` is the share of time that lifting links saved,
/// where that was tried.
Changes changes_for(const FinishedRun& run, std::optional<double> links_gain);

struct Tried {
  Change change;
  VariantResult result;
};

struct Explanation {
  nlohmann::ordered_json bound; ///< null where it was not computed
  std::vector<VariantResult> limits, mechanisms;
  std::vector<Tried> tries;
  std::vector<Change> refused;
  std::vector<std::string> not_tried; ///< beyond kMostTries, or for want of time
};

struct ExplainOptions {
  double within_seconds = 120;
  /// Told before each set of reruns how many there are.
  std::function<void(std::size_t reruns)> announce;
  std::function<nlohmann::ordered_json(const ReplayRun&)> summarise;
  std::function<bool()> stop;
};

/// Makes the reruns, two at a time, each in a process of its own. Throws UserError where the run
/// itself does not come out as it did, and Interrupted.
Explanation explain(const FinishedRun& run, const ExplainOptions& options);

} // namespace umf::app
