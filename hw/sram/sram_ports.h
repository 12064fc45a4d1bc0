#pragma once

#include <cstdint>

namespace umf::hw {

/// What a bank does in one clock: one access of either kind, or a read beside a write.
enum class SramPorts : std::uint8_t { shared, separate };

} // namespace umf::hw
