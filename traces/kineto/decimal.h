#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace umf::traces::kineto {

/// Decimal microseconds ("1428625756944.792", "-1", "1.5e3") as whole nanoseconds, exactly:
/// halves round away from zero, and no double is involved. Nothing when the text is no
/// decimal number or does not fit.
std::optional<std::int64_t> nanoseconds_from_microseconds(std::string_view text);

/// A whole decimal number of 64 bits, signed. Nothing when it is not one or does not fit.
std::optional<std::int64_t> whole_number(std::string_view text);

} // namespace umf::traces::kineto
