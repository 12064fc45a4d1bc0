#include "traces/generate/step.h"

#include <algorithm>

namespace umf::traces::generate {

Entries visible(const shapes::KvPart& part, const Sequence& sequence) {
  const std::uint64_t entries = sequence.context() / part.tokens_per_entry;
  if (part.window == 0) return {0, entries};
  const std::uint64_t kept = shapes::entries_of(part, sequence.context());
  return {entries - kept, kept};
}

Entries added(const shapes::KvPart& part, const Sequence& sequence) {
  const std::uint64_t before = sequence.past / part.tokens_per_entry;
  const std::uint64_t after = sequence.context() / part.tokens_per_entry;
  const std::uint64_t kept =
      part.window == 0 ? after - before : std::min(after - before, part.window);
  return {after - kept, kept};
}

std::uint64_t out_of_sight(const shapes::KvPart& part, const Sequence& sequence) {
  if (part.window == 0) return 0;
  const std::uint64_t entries = sequence.context() / part.tokens_per_entry;
  return entries - std::min(entries, part.window - 1); // the next one is of its own window
}

} // namespace umf::traces::generate
