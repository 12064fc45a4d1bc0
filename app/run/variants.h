#pragma once

#include "app/run/replay_run.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace umf::app {

/// What `--against` calls the bound that no policy passes.
inline constexpr const char* kBound = "bound";

/// The same replay with one thing changed; or what bounds it.
struct Variant {
  enum class Kind : std::uint8_t { policy, ideal, bound, bursts, without, keys };
  Kind kind = Kind::policy;
  std::string name; ///< of the policy, of the limit lifted, kBound, the longest burst, the
                    ///< mechanism left out, or what other keys do
  ReplayRequest request;
};

/// How it ended: with a summary, or refused with a sentence why.
struct VariantResult {
  Variant::Kind kind = Variant::Kind::policy;
  std::string name;
  nlohmann::ordered_json summary; ///< null when refused; of a bound, what it is made of
  std::string refusal;
};

/// `base` under each of the policies, with their default keys, and its bound; "all" stands for the
/// bound and every policy. The scenario's own is left out. Throws UserError for a name that is no
/// policy.
std::vector<Variant> policy_variants(const ReplayRequest& base,
                                     const std::vector<std::string>& names);
/// `base` with each of the limits lifted (hw::limits_of); "all" stands for every one of the
/// machine. Throws UserError for a limit it does not have.
std::vector<Variant> limit_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& names);

/// `base` with other longest bursts (scheduler.max_burst): what cutting runs costs or hides.
std::vector<Variant> burst_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& sizes);

/// `base` with each mechanism of its policy left out, by name ("S4"); "all" stands for every one.
/// Throws UserError for one that the policy does not have.
std::vector<Variant> without_variants(const ReplayRequest& base,
                                      const std::vector<std::string>& names);

/// What a mechanism is called that can be left out of runs under the policy: "prefetch" for "S4".
std::string_view mechanism_name(std::string_view policy, std::string_view id);

/// Runs each variant in a child process, since SystemC elaborates once a process, as many at
/// a time as the machine has cores, or `at_most`; results come in the order asked. To be called
/// before this process has a platform of its own. Bounds are only computed. `summarise` turns a
/// finished run into its summary, in the child. Throws Interrupted when the user asked to stop.
std::vector<VariantResult>
run_variants(const std::vector<Variant>& variants,
             const std::function<nlohmann::ordered_json(const ReplayRun&)>& summarise,
             std::size_t at_most = std::numeric_limits<std::size_t>::max());

} // namespace umf::app
