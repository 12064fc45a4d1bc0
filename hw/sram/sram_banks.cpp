#include "hw/sram/sram_banks.h"

#include "model/base/error.h"

#include <algorithm>

namespace umf::hw {

SramBanks::SramBanks(const SramBanksConfig& config)
    : config_(config), separate_(config.ports == SramPorts::separate) {
  ensure(config.banks > 0, "an SRAM without banks");
  ensure(config.word > 0, "an SRAM whose words are empty");
  free_at_.resize(std::size_t{config.banks} * (separate_ ? 2 : 1));
  words_.resize(config.banks);
}

Cycle SramBanks::access(Cycle arrival, std::uint64_t address, std::uint64_t bytes, bool write) {
  const std::uint64_t first = address / config_.word;
  const std::uint64_t count = (address + (bytes - 1)) / config_.word - first + 1;
  ++(write ? statistics_.writes : statistics_.reads);
  auto bank = static_cast<std::uint32_t>(first % config_.banks);
  Cycle last = arrival;
  for (std::uint64_t i = 0; i < count; ++i) {
    Cycle& free_at = free_at_[port(bank, write)];
    const Cycle start = std::max(arrival, free_at);
    free_at = start + 1;
    if (start > arrival) ++statistics_.conflicts;
    statistics_.waited += start - arrival;
    statistics_.first_start =
        statistics_.words == 0 ? start : std::min(statistics_.first_start, start);
    statistics_.last_start = std::max(statistics_.last_start, start);
    ++statistics_.words;
    ++words_[bank];
    last = std::max(last, start);
    if (++bank == config_.banks) bank = 0;
  }
  return last + config_.latency;
}

double SramBanks::words_per_clock() const {
  if (statistics_.words == 0) return 0;
  const Cycle clocks = statistics_.last_start - statistics_.first_start + 1;
  return static_cast<double>(statistics_.words) / static_cast<double>(clocks);
}

SramBanks::Load SramBanks::busiest() const {
  const auto most = std::max_element(words_.begin(), words_.end());
  return {static_cast<std::uint32_t>(most - words_.begin()), *most};
}

} // namespace umf::hw
