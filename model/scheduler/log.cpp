#include "model/scheduler/log.h"

#include <array>
#include <bit>

namespace umf::scheduler {

std::string_view name_of(LogEvent::Kind kind) {
  constexpr std::array<std::string_view, 19> names = {
      "declare",  "preload", "reserve", "release", "touch",  "again",   "sense",
      "serve",    "room",    "next",    "refuse",  "landed", "suspend", "quiesced",
      "complete", "reclaim", "",        "",        "link"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint32_t digest_of(std::span<const PageRun> runs) {
  std::uint64_t mixed = runs.size();
  const auto mix = [&mixed](std::uint64_t value) {
    mixed = (std::rotl(mixed, 23) ^ value) * 0x9e3779b97f4a7c15; // 2^64 / golden ratio, odd
  };
  for (const PageRun& run : runs) {
    mix(run.first);
    mix(run.count);
    mix(run.frame);
    mix(run.tier | std::uint64_t{static_cast<std::uint8_t>(run.state)} << 16 |
        std::uint64_t{run.packed} << 32);
  }
  return static_cast<std::uint32_t>(mixed >> 32);
}

bool same(const Command& a, const Command& b) {
  return a.id == b.id && a.from.first == b.from.first && a.from.count == b.from.count &&
         a.from.tier == b.from.tier && a.from.frame == b.from.frame &&
         a.from.packed == b.from.packed && a.to == b.to && a.to_frame == b.to_frame &&
         a.why == b.why && a.blank == b.blank && a.back == b.back && a.keep == b.keep &&
         a.carried == b.carried && a.sync == b.sync && a.skip == b.skip && a.bytes == b.bytes &&
         a.begun == b.begun && a.packed == b.packed && a.scan == b.scan;
}

} // namespace umf::scheduler
