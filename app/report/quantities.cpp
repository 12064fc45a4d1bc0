#include "app/report/quantities.h"

#include <fmt/format.h>

#include <cstddef>

namespace umf::app {

namespace {

std::string scaled(std::uint64_t bytes, double step, const char* const (&units)[5]) {
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= step && unit < 4; ++unit)
    value /= step;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.2f} {}", value, units[unit]);
}

} // namespace

TimeUnit time_unit_for(double seconds) {
  if (seconds < 1e-6) return {1e9, "ns"};
  if (seconds < 1e-3) return {1e6, "µs"};
  if (seconds < 10) return {1e3, "ms"};
  return {1, "s"};
}

std::string duration(double seconds, const TimeUnit& unit) {
  return fmt::format("{:.3f} {}", seconds * unit.per_second, unit.name);
}

std::string duration(double seconds) {
  return duration(seconds, time_unit_for(seconds));
}

std::string decimal_bytes(std::uint64_t bytes) {
  return scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB"});
}

std::string binary_bytes(std::uint64_t bytes) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

} // namespace umf::app
