#pragma once

#include <span>
#include <string>
#include <string_view>

namespace umf {

/// The candidate the user most likely meant: at most two edits away
/// (transpositions count as one), or sharing a whole name as prefix. Empty if
/// none is near. Ties go to the earlier candidate.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// `did you mean "x"?`, or the list of what is accepted: the tail of an error.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

/// ` (did you mean "x"?)` when a candidate is near, else nothing.
std::string near_hint(std::string_view name, std::span<const std::string> candidates);

} // namespace umf
