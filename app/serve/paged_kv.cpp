#include "app/serve/paged_kv.h"

#include "model/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

namespace generate = traces::generate;

PagedKv::PagedKv(const generate::StepOptions& options, std::uint32_t block_tokens,
                 generate::Numbers& numbers)
    : block_tokens_(block_tokens) {
  for (std::uint32_t layer = 0; layer < options.model.layers; ++layer) {
    first_.push_back(parts_.size());
    for (const shapes::KvPart& part : shapes::kv_parts(options.model, layer, options.tp)) {
      if (part.tokens_per_entry != 1 || part.top_k != 0)
        throw UserError(fmt::format(
            "--model {}: its KV cache is compressed, and blocks of one hold whole tokens; expected "
            "a model of full, sliding-window or latent attention",
            options.model.name));
      Part made;
      made.entry = shapes::entry_bytes(part, options.kv).count;
      made.tensor.id = numbers.tensor++;
      made.tensor.name = fmt::format("kv.{}.{}", layer, part.name);
      made.tensor.role = part.role;
      made.tensor.dtype = part.entry.count != 0 ? stream::DType::u8 : options.kv.dtype;
      made.tensor.shape = {0, block_tokens, part.heads, part.numbers};
      made.tensor.layer = static_cast<std::int32_t>(layer);
      parts_.push_back(std::move(made));
    }
  }
}

Bytes PagedKv::block_bytes() const {
  Bytes all{};
  for (const Part& part : parts_)
    all += Bytes{part.entry * block_tokens_};
  return all;
}

std::vector<stream::Tensor> PagedKv::tensors(std::uint32_t blocks) const {
  std::vector<stream::Tensor> tensors;
  for (const Part& part : parts_) {
    tensors.push_back(part.tensor);
    tensors.back().shape[0] = blocks;
    tensors.back().bytes = {std::uint64_t{blocks} * block_tokens_ * part.entry};
  }
  return tensors;
}

std::vector<hw::InitialStretch> PagedKv::stretches(std::uint32_t blocks) const {
  constexpr std::uint32_t kRounds = 1024; // so finely are blocks of all layers interleaved
  const std::uint32_t at_once = std::max((blocks + kRounds - 1) / kRounds, std::uint32_t{1});
  std::vector<hw::InitialStretch> stretches;
  for (std::uint32_t first = 0; first < blocks; first += at_once) {
    const std::uint64_t count = std::min(at_once, blocks - first);
    for (const Part& part : parts_) {
      const std::uint64_t bytes = part.entry * block_tokens_;
      stretches.push_back({part.tensor.id, {first * bytes}, {count * bytes}});
    }
  }
  return stretches;
}

void PagedKv::find_places(std::uint32_t blocks,
                          const std::function<bool(stream::TensorId, std::uint64_t)>& far) {
  const Part& part = parts_.front(); // the blocks of other layers came with those of the first
  far_.assign(blocks, false);
  for (std::uint64_t block = 0; block < blocks; ++block)
    far_[block] = far(part.tensor.id, block * block_tokens_ * part.entry);
}

PagedKv::Reach PagedKv::reach(const stream::Access& access) const {
  const stream::TensorId first = parts_.front().tensor.id;
  if (access.tensor < first || access.tensor >= first + parts_.size()) return {};
  const std::uint64_t bytes = parts_[access.tensor - first].entry * block_tokens_;
  const std::uint64_t end = access.offset + access.length.count;
  Reach reach{access.length.count};
  for (std::uint64_t at = access.offset; at < end;) {
    const std::uint64_t next = std::min((at / bytes + 1) * bytes, end);
    if (far_[at / bytes]) reach.far += next - at;
    at = next;
  }
  return reach;
}

void PagedKv::touch(const Part& part, std::uint32_t sequence, generate::Entries entries, bool write,
                    std::vector<stream::Access>& accesses) const {
  const auto& blocks = blocks_[sequence];
  const std::uint64_t end = entries.first + entries.count;
  for (std::uint64_t at = entries.first; at < end;) {
    const std::uint64_t first = at / block_tokens_;
    std::uint64_t last = first; // of a run of neighbours
    while ((last + 1) * block_tokens_ < end && blocks[last + 1] == blocks[last] + 1)
      ++last;
    const std::uint64_t to = std::min((last + 1) * block_tokens_, end);
    stream::Access& access = accesses.emplace_back();
    access.tensor = part.tensor.id;
    access.write = write;
    access.rule = stream::Rule::generated;
    access.offset =
        (std::uint64_t{blocks[first]} * block_tokens_ + at % block_tokens_) * part.entry;
    access.length = {(to - at) * part.entry};
    at = to;
  }
}

std::uint64_t PagedKv::read(const generate::KvAsk& ask, std::vector<stream::Access>& accesses) {
  std::uint64_t met = 0;
  for (const std::uint32_t i : ask.which) {
    const generate::Entries seen = generate::visible(ask.part, ask.batch[i]);
    touch(part_of(ask), i, seen, false, accesses);
    met += seen.count;
  }
  return met;
}

void PagedKv::append(const generate::KvAsk& ask, std::vector<stream::Access>& accesses) {
  for (const std::uint32_t i : ask.which)
    touch(part_of(ask), i, generate::added(ask.part, ask.batch[i]), true, accesses);
}

} // namespace umf::app
