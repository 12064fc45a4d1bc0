#pragma once

#include <cstdint>

namespace umf::traces::umft {

/// What differences are taken against. Every frame starts from zeros, so it decodes alone.
struct Deltas {
  std::uint64_t id = 0; ///< of the last kernel or copy
  std::int64_t issue_ns = 0;
  std::int64_t start_ns = 0;
  std::int64_t arrival_ns = 0;
};

} // namespace umf::traces::umft
