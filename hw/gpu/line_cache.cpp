#include "hw/gpu/line_cache.h"

#include "model/base/random.h"

#include <algorithm>

namespace umf::hw {

LineCache::LineCache(const Options& options)
    : options_(options), sets_(std::max<std::uint64_t>(options.lines / options.ways, 1)),
      ways_(sets_ * options.ways) {}

LineCache::Way* LineCache::set_of(std::uint64_t line) {
  const std::uint64_t key = options_.hashed ? mix_bits(line + 1) : line;
  return &ways_[key % sets_ * options_.ways];
}

LineCache::Way& LineCache::victim(Way* set) {
  Way* const end = set + options_.ways;
  Way* const oldest =
      std::min_element(set, end, [](const Way& a, const Way& b) { return a.used < b.used; });
  if (oldest->used == 0 || options_.replacement == Replacement::least_recent) return *oldest;
  auto idle = static_cast<std::uint64_t>(
      std::count_if(set, end, [](const Way& way) { return !way.recent; }));
  if (idle == 0) {
    for (Way* way = set; way != end; ++way)
      way->recent = false;
    idle = options_.ways;
  }
  std::uint64_t skip = mix_bits(++drawn_) % idle;
  Way* way = set;
  while (way->recent || skip-- > 0)
    ++way;
  return *way;
}

LineCache::Outcome LineCache::use(std::uint64_t line) {
  Way* const set = set_of(line);
  for (Way* way = set; way != set + options_.ways; ++way)
    if (way->used != 0 && way->line == line) {
      way->used = ++uses_;
      way->recent = true;
      return {true, std::nullopt};
    }
  Way& way = victim(set);
  Outcome outcome;
  if (way.used != 0) outcome.evicted = way.line;
  way = {line, ++uses_, true};
  return outcome;
}

bool LineCache::take_out(std::uint64_t line) {
  Way* const set = set_of(line);
  for (Way* way = set; way != set + options_.ways; ++way)
    if (way->used != 0 && way->line == line) {
      *way = {};
      return true;
    }
  return false;
}

} // namespace umf::hw
