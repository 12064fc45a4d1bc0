#include "traces/generate/page_kv.h"

#include <fmt/format.h>

namespace umf::traces::generate {

PageKv::PageKv(const StepOptions& options, std::uint64_t sequences, std::uint64_t tokens,
               std::unique_ptr<access::PageChooser> chooser, Numbers& numbers)
    : RunKv(options, sequences, tokens, numbers), chooser_(std::move(chooser)),
      page_(chooser_->page_tokens()) {
  if (!chooser_->has_bounds()) return;
  for (std::uint32_t layer = 0; layer < options.model.layers; ++layer) {
    const shapes::KvPart key = shapes::kv_parts(options.model, layer, options.tp).front();
    const std::uint64_t numbers_of_page = 2ULL * key.heads * key.numbers;
    const std::uint64_t pages = key.window == 0 ? tokens / page_ : 0;
    first_bounds_.push_back(numbers.tensor);
    for (std::uint64_t s = 0; s < sequences; ++s)
      bounds_.push_back({numbers.tensor++,
                         fmt::format("kv.{}.bounds.{}", layer, s),
                         stream::Role::kv_key,
                         stream::DType::bf16,
                         {static_cast<std::int64_t>(pages), 2, key.heads, key.numbers},
                         {pages * numbers_of_page * kActivation},
                         static_cast<std::int32_t>(layer)});
  }
}

void PageKv::declare(std::vector<stream::Record>& records) const {
  RunKv::declare(records);
  for (const stream::Tensor& tensor : bounds_)
    if (tensor.bytes.count != 0) records.emplace_back(tensor);
}

bool PageKv::concerns(const KvAsk& ask) const {
  return ask.part.window == 0 && ask.part.tokens_per_entry == 1;
}

bool PageKv::has_bounds(const KvAsk& ask) const {
  return chooser_->has_bounds() && concerns(ask) && ask.part.role == stream::Role::kv_key;
}

/// Of the context's run, what is behind its last whole page.
void PageKv::read_tail(const KvAsk& ask, std::uint32_t sequence, std::uint64_t first,
                       std::vector<stream::Access>& accesses) const {
  const std::uint64_t tokens = ask.batch[sequence].context(), each = entry(ask).count;
  if (first == tokens) return;
  stream::Access& access = accesses.emplace_back();
  access.tensor = tensor(ask, sequence);
  access.rule = stream::Rule::generated;
  access.offset = first * each;
  access.length = {(tokens - first) * each};
}

void PageKv::touch_bounds(const KvAsk& ask, std::uint32_t sequence, std::uint64_t first,
                          std::uint64_t pages, bool write,
                          std::vector<stream::Access>& accesses) const {
  if (pages == 0) return;
  const std::uint64_t each = 2ULL * ask.part.heads * ask.part.numbers * kActivation;
  stream::Access& access = accesses.emplace_back();
  access.tensor = first_bounds_[ask.layer] + sequence;
  access.write = write;
  access.rule = stream::Rule::generated;
  access.offset = first * each;
  access.length = {pages * each};
}

const PageKv::Choice& PageKv::choice(const access::PageAsk& ask, std::size_t at) {
  if (choices_.size() <= at) choices_.resize(at + 1);
  Choice& found = choices_[at];
  if (!found.known || found.ask != ask) {
    found.chosen = chooser_->choose(ask, found.pages);
    found.ask = ask;
    found.known = true;
  }
  return found;
}

/// Gathers the chosen pages of `heads` choices; gives the entries met, a mean over heads.
std::uint64_t PageKv::read_pages(const KvAsk& ask, std::uint32_t sequence, std::uint32_t heads,
                                 std::vector<stream::Access>& accesses) {
  const Sequence& asked = ask.batch[sequence];
  const std::uint64_t whole = asked.context() / page_;
  const std::uint64_t block = entry(ask).count * page_ / heads;
  stream::Access gather;
  gather.tensor = tensor(ask, sequence);
  gather.rule = stream::Rule::generated;
  gather.pattern = stream::Pattern::gather;
  gather.block_bytes = {block};
  gather.length = {whole * page_ * entry(ask).count};
  std::uint64_t met = 0;
  for (std::uint32_t head = 0; head < heads; ++head) {
    const Choice& made =
        choice({asked.id, ask.layer, head, asked.context()}, std::size_t{sequence} * heads + head);
    if (!made.chosen) {
      read_tail(ask, sequence, 0, accesses);
      return asked.context();
    }
    met += made.pages.size() * page_;
    for (const std::uint64_t page : made.pages)
      gather.indices.push_back(page * heads + head);
  }
  if (!gather.indices.empty()) accesses.push_back(std::move(gather));
  read_tail(ask, sequence, whole * page_, accesses);
  return met / heads + asked.context() - whole * page_;
}

std::uint64_t PageKv::read(const KvAsk& ask, std::vector<stream::Access>& accesses) {
  if (!concerns(ask)) return RunKv::read(ask, accesses);
  std::uint64_t met = 0;
  for (const std::uint32_t i : ask.which) {
    if (!ask.batch[i].decodes()) {
      read_tail(ask, i, 0, accesses);
      met += ask.batch[i].context();
      continue;
    }
    const std::size_t before = accesses.size();
    met += read_pages(ask, i, chooser_->by_head() ? ask.part.heads : 1, accesses);
    const bool chose = accesses.size() != before && !accesses[before].indices.empty();
    if (has_bounds(ask) && chose)
      touch_bounds(ask, i, 0, ask.batch[i].context() / page_, false, accesses);
  }
  return met;
}

void PageKv::append(const KvAsk& ask, std::vector<stream::Access>& accesses) {
  RunKv::append(ask, accesses);
  if (!has_bounds(ask)) return;
  for (const std::uint32_t i : ask.which) {
    const std::uint64_t before = ask.batch[i].past / page_;
    touch_bounds(ask, i, before, ask.batch[i].context() / page_ - before, true, accesses);
  }
}

} // namespace umf::traces::generate
