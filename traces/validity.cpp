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

std::string fault_of_free(const stream::Free& free) {
  if (!free.length)
    return free.offset == 0 ? std::string()
                            : fmt::format("a free from byte {} on without a length, expected both "
                                          "or neither",
                                          free.offset);
  if (free.length->count == 0) return "a free of 0 bytes, expected 1 or more";
  if (free.offset > UINT64_MAX - free.length->count)
    return fmt::format("a free of {} bytes from byte {} on, expected an end below 2^64",
                       free.length->count, free.offset);
  return {};
}

} // namespace

std::string fault_of(const stream::Record& record) {
  if (const auto* kernel = std::get_if<stream::Kernel>(&record)) return fault_of_kernel(*kernel);
  if (const auto* free = std::get_if<stream::Free>(&record)) return fault_of_free(*free);
  return {};
}

std::string fault_of(const stream::Header& header) {
  for (const auto& device : header.devices)
    if (!is_figure(device.clock.value))
      return fmt::format("a device clock of {} Hz, expected a finite number from 0 up",
                         device.clock.value);
  return {};
}

} // namespace umf::traces
