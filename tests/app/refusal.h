#pragma once

#include "tests/app/child.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

namespace umf::test {

/// Refused as the contract says: exit 2, nothing on stdout, `lines` lines on stderr.
inline void check_refused(const Ended& ended, std::ptrdiff_t lines = 1) {
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == lines);
}

} // namespace umf::test
