#include "traces/generate/run_kv.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::traces::generate {

RunKv::RunKv(const StepOptions& options, std::uint64_t sequences, std::uint64_t tokens,
             Numbers& numbers)
    : format_(options.kv), reclaims_(options.reclaim), sequences_(sequences),
      random_(options.seed, "generate.entries") {
  for (std::uint32_t layer = 0; layer < options.model.layers; ++layer) {
    first_.push_back(numbers.tensor);
    for (const shapes::KvPart& part : shapes::kv_parts(options.model, layer, options.tp)) {
      const std::uint64_t entries =
          reclaims_ ? tokens / part.tokens_per_entry : shapes::entries_of(part, tokens);
      for (std::uint64_t s = 0; s < sequences; ++s)
        tensors_.push_back(
            {numbers.tensor++,
             fmt::format("kv.{}.{}.{}", layer, part.name, s),
             part.role,
             part.entry.count != 0 ? stream::DType::u8 : format_.dtype,
             {static_cast<std::int64_t>(entries), static_cast<std::int64_t>(part.heads),
              static_cast<std::int64_t>(part.numbers)},
             {entries * shapes::entry_bytes(part, format_).count},
             static_cast<std::int32_t>(layer)});
    }
  }
  if (reclaims_) freed_.resize(tensors_.size());
}

void RunKv::declare(std::vector<stream::Record>& records) const {
  for (const stream::Tensor& tensor : tensors_)
    records.emplace_back(tensor);
}

/// A ring's run may be two pieces.
void RunKv::run(const KvAsk& ask, std::uint32_t sequence, Entries entries, bool write,
                std::vector<stream::Access>& accesses) const {
  const std::uint64_t each = entry(ask).count, ring = reclaims_ ? 0 : ask.part.window;
  while (entries.count != 0) {
    const std::uint64_t at = ring == 0 ? entries.first : entries.first % ring;
    const std::uint64_t count = ring == 0 ? entries.count : std::min(entries.count, ring - at);
    stream::Access& access = accesses.emplace_back();
    access.tensor = tensor(ask, sequence);
    access.write = write;
    access.rule = stream::Rule::generated;
    access.offset = at * each;
    access.length = {count * each};
    entries.first += count;
    entries.count -= count;
  }
}

/// The indexer's choice: one entry of each of top_k equal stretches, at random.
void RunKv::choose(const KvAsk& ask, std::uint32_t sequence, std::uint64_t entries,
                   std::vector<stream::Access>& accesses) {
  stream::Access& access = accesses.emplace_back();
  access.tensor = tensor(ask, sequence);
  access.rule = stream::Rule::generated;
  access.pattern = stream::Pattern::gather;
  access.block_bytes = entry(ask);
  access.length = {entries * access.block_bytes.count};
  access.indices.reserve(ask.part.top_k);
  for (std::uint64_t i = 0; i < ask.part.top_k; ++i) {
    const std::uint64_t from = i * entries / ask.part.top_k;
    const std::uint64_t to = (i + 1) * entries / ask.part.top_k;
    access.indices.push_back(from + random_.next_below(to - from));
  }
}

std::uint64_t RunKv::read(const KvAsk& ask, std::vector<stream::Access>& accesses) {
  std::uint64_t met = 0;
  for (const std::uint32_t i : ask.which) {
    const Sequence& sequence = ask.batch[i];
    const Entries seen = visible(ask.part, sequence);
    const bool chosen = sequence.decodes() && ask.part.top_k != 0 && seen.count > ask.part.top_k;
    if (chosen)
      choose(ask, i, seen.count, accesses);
    else
      run(ask, i, seen, false, accesses);
    met += chosen ? ask.part.top_k : seen.count;
  }
  return met;
}

void RunKv::append(const KvAsk& ask, std::vector<stream::Access>& accesses) {
  for (const std::uint32_t i : ask.which)
    run(ask, i, added(ask.part, ask.batch[i]), true, accesses);
}

void RunKv::reclaim(const KvAsk& ask, std::vector<stream::Record>& records) {
  if (!reclaims_) return;
  const std::uint64_t each = entry(ask).count;
  for (const std::uint32_t i : ask.which) {
    std::uint64_t& freed = freed_[tensor(ask, i) - tensors_.front().id];
    const std::uint64_t gone = out_of_sight(ask.part, ask.batch[i]);
    if (gone <= freed) continue;
    records.emplace_back(stream::Free{tensor(ask, i), freed * each, Bytes{(gone - freed) * each}});
    freed = gone;
  }
}

} // namespace umf::traces::generate
