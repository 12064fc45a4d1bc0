#pragma once

#include "model/base/keys.h"
#include "model/policy/policy.h"

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace umf::policy {

/// A part of a policy that can be left out, by the mission's name for it.
struct Mechanism {
  std::string_view id;                                            ///< "S4"
  std::string_view what;                                          ///< for tables
  std::vector<std::pair<std::string_view, std::string_view>> off; ///< keys and their JSON values
};

/// A policy a scenario can name: its keys and how to make one from them.
struct Kind {
  const ComponentInfo* info = nullptr; ///< "policy.NAME"
  std::string_view sentence;           ///< what it does and where its time goes, for tables
  std::unique_ptr<Policy> (*make)(const JsonValue& object, KeyContext& context) = nullptr;
  bool beyond_hbm = true; ///< places pages elsewhere, too
  bool moves = true;      ///< pages that have their place already
  std::vector<Mechanism> mechanisms = {};
};

/// All policies, in order of presentation.
std::span<const Kind> kinds();
/// The one of that name, which must be there.
const Kind& kind_named(std::string_view name);

/// Faults members of a map by role, such as "hbm_share", whose names are no roles.
void check_roles(const JsonValue& object, std::string_view key, KeyContext& context);

/// The same for a list of roles.
void check_role_list(const std::vector<std::string>& list, const std::string& pointer,
                     KeyContext& context);

/// What policies that place weights at the start say of their key "hbm_reserve_ratio" (default
/// 0.15).
KeyOptions<double> hbm_reserve_key();

/// The member of a policy object that names the policy.
inline constexpr std::string_view kNameKey = "name";

} // namespace umf::policy
