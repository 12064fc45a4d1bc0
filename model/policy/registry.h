#pragma once

#include "model/base/keys.h"
#include "model/policy/policy.h"

#include <memory>
#include <span>

namespace umf::policy {

/// A policy a scenario can name: its keys and how to make one from them.
struct Kind {
  const ComponentInfo* info = nullptr; ///< "policy.NAME"
  std::unique_ptr<Policy> (*make)(const JsonValue& object, KeyContext& context) = nullptr;
};

/// All policies, in order of presentation.
std::span<const Kind> kinds();

/// The member of a policy object that names the policy.
inline constexpr std::string_view kNameKey = "name";

} // namespace umf::policy
