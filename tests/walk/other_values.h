#pragma once

#include "model/base/key_info.h"

#include <string>
#include <vector>

namespace umf::test {

/// Values that a key might have instead of `now`, as `--set` takes them, the nearest first:
/// twice and half, far off, the ends of its range, every other choice. Not all need be legal.
std::vector<std::string> other_values(const KeyInfo& key, const std::string& now);

} // namespace umf::test
