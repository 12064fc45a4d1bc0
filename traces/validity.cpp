#include "traces/validity.h"

#include <cmath>
#include <fmt/format.h>

namespace umf::traces {

namespace {

bool is_figure(double value) {
  return std::isfinite(value) && value >= 0;
}

std::string fault_of_kernel(const stream::Kernel& kernel) {
  if (!is_figure(kernel.flops))
    return fmt::format("flops of {}, expected a finite number from 0 up", kernel.flops);
  for (const auto& access : kernel.accesses)
    if (!(access.fraction > 0 && access.fraction <= 1))
      return fmt::format("an access with fraction {}, expected above 0 and at most 1",
                         access.fraction);
  return {};
}

} // namespace

std::string fault_of(const stream::Record& record) {
  const auto* kernel = std::get_if<stream::Kernel>(&record);
  return kernel != nullptr ? fault_of_kernel(*kernel) : std::string();
}

std::string fault_of(const stream::Header& header) {
  for (const auto& device : header.devices)
    if (!is_figure(device.clock.value))
      return fmt::format("a device clock of {} Hz, expected a finite number from 0 up",
                         device.clock.value);
  return {};
}

} // namespace umf::traces
