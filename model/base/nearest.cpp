#include "model/base/nearest.h"

#include "model/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace umf {
namespace {

constexpr std::size_t most_edits = 2;
constexpr std::size_t shortest_prefix = 3;
constexpr std::size_t longest_name = 200;

/// Damerau-Levenshtein distance (adjacent transpositions, each character moved once).
std::size_t edits(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> cost((a.size() + 1) * width);
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& best = cost[i * width + j];
      if (i == 0 || j == 0) {
        best = i + j;
        continue;
      }
      const std::size_t replace = cost[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best = std::min({replace, cost[(i - 1) * width + j] + 1, cost[i * width + j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, cost[(i - 2) * width + j - 2] + 1);
    }
  }
  return cost.back();
}

bool shares_prefix(std::string_view a, std::string_view b) {
  return std::min(a.size(), b.size()) >= shortest_prefix && (a.starts_with(b) || b.starts_with(a));
}

} // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > longest_name) return {};
  std::string best;
  std::size_t fewest = most_edits + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edits(name, candidate);
    if (distance >= fewest || distance >= std::min(name.size(), candidate.size())) continue;
    fewest = distance;
    best = candidate;
  }
  if (!best.empty()) return best;
  const auto prefixed =
      std::find_if(candidates.begin(), candidates.end(),
                   [name](const std::string& candidate) { return shares_prefix(name, candidate); });
  return prefixed == candidates.end() ? std::string() : *prefixed;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  if (candidates.empty()) return "expected none here";
  const std::string near = nearest(name, candidates);
  if (!near.empty()) return fmt::format("did you mean {}?", in_quotes(near));
  return fmt::format("expected one of {}", fmt::join(candidates, ", "));
}

std::string near_hint(std::string_view name, std::span<const std::string> candidates) {
  const std::string near = nearest(name, candidates);
  return near.empty() ? near : fmt::format(" (did you mean {}?)", in_quotes(near));
}

} // namespace umf
