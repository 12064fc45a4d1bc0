#pragma once

#include <cstdint>
#include <string>

/// Quantities as people read them; files hold exact ones.
namespace umf::app {

/// A unit of time that keeps three decimals meaningful.
struct TimeUnit {
  double per_second;
  const char* name;
};
TimeUnit time_unit_for(double seconds);

/// "24.192 ms"
std::string duration(double seconds, const TimeUnit& unit);
std::string duration(double seconds);
/// "1.05 GB", powers of ten
std::string decimal_bytes(std::uint64_t bytes);
/// "1.05 GiB", powers of two
std::string binary_bytes(std::uint64_t bytes);

} // namespace umf::app
