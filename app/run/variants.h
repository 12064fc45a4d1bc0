#pragma once

#include "app/run/replay_run.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace umf::app {

/// The same replay with one thing changed.
struct Variant {
  enum class Kind : std::uint8_t { policy, ideal } kind = Kind::policy;
  std::string name; ///< of the policy, or of the limit lifted
  ReplayRequest request;
};

/// How it ended: with a summary, or refused with a sentence why.
struct VariantResult {
  Variant::Kind kind = Variant::Kind::policy;
  std::string name;
  nlohmann::ordered_json summary; ///< null when refused
  std::string refusal;
};

/// `base` under each of the policies, with their default keys; "all" stands for every policy.
/// The scenario's own is left out. Throws UserError for a name that is no policy.
std::vector<Variant> policy_variants(const ReplayRequest& base,
                                     const std::vector<std::string>& names);
/// `base` with each of the limits lifted (hw::limits_of); "all" stands for every one of the
/// machine. Throws UserError for a limit it does not have.
std::vector<Variant> limit_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& names);

/// Runs each variant in a child process, since SystemC elaborates once a process, as many at
/// a time as the machine has cores; results come in the order asked. To be called before this
/// process has a platform of its own. `summarise` turns a finished run into its summary, in the
/// child. Throws Interrupted when the user asked to stop.
std::vector<VariantResult>
run_variants(const std::vector<Variant>& variants,
             const std::function<nlohmann::ordered_json(const ReplayRun&)>& summarise);

} // namespace umf::app
