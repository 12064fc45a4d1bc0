#pragma once

#include "app/run/variants.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// A run beside the same run under other policies, with one limit lifted, or cut otherwise.
namespace umf::app {

/// What summary.json says of them, under "against", "ideal" and "bursts". `own` is the summary of
/// the run itself.
void add_comparisons(nlohmann::ordered_json& own, const std::vector<VariantResult>& results);

/// The ladder of policies, fastest first, each with a sentence; and the limits by what lifting
/// them is worth.
std::string comparison_tables(const nlohmann::ordered_json& own,
                              const std::vector<VariantResult>& results);

/// Names of variants whose ledger does not balance.
std::vector<std::string> unbalanced(const std::vector<VariantResult>& results);

} // namespace umf::app
