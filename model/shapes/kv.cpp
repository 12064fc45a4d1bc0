#include "model/shapes/kv.h"

#include "model/shapes/matrices.h"

#include <algorithm>

namespace umf::shapes {

namespace {

using stream::Role;

void add_heads(std::vector<KvPart>& parts, const FullAttention& a, std::uint32_t tp,
               std::uint64_t window) {
  KvPart part{"key", Role::kv_key, kv_heads_on(a, tp), a.head_dim, {}, 1, window, 0};
  parts.push_back(part);
  part.name = "value";
  part.role = Role::kv_value;
  parts.push_back(part);
}

/// A token's numbers and their weights in an entry that is not whole yet, in 32 bits; twice as wide
/// where entries overlap.
Bytes unfinished_token(bool overlaps, std::uint64_t dim) {
  return {(overlaps ? 2 : 1) * dim * 2 * 4};
}

void add_compressed(std::vector<KvPart>& parts, const CompressedAttention& a, std::uint32_t ratio) {
  parts.push_back({"window", Role::kv_key, 1, a.head_dim, {}, 1, a.window, 0});
  if (ratio == 0) return;
  const bool indexed = ratio == a.index_ratio;
  parts.push_back(
      {"compressed", Role::kv_key, 1, a.head_dim, {}, ratio, 0, indexed ? a.index_top_k : 0});
  Bytes token = unfinished_token(indexed, a.head_dim);
  if (indexed) {
    parts.push_back({"index", Role::kv_key, 1, a.index_dim, a.index_entry, ratio, 0, 0});
    token += unfinished_token(true, a.index_dim);
  }
  parts.push_back({"unfinished", Role::kv_value, 0, 0, token, 1, (indexed ? 2u : 1u) * ratio, 0});
}

} // namespace

std::vector<KvPart> kv_parts(const Model& model, std::uint32_t layer, std::uint32_t tp) {
  std::vector<KvPart> parts;
  if (const auto* full = std::get_if<FullAttention>(&model.attention)) {
    add_heads(parts, *full, tp, 0);
  } else if (const auto* sliding = std::get_if<SlidingAttention>(&model.attention)) {
    const bool sees_all = sliding->full_every != 0 && (layer + 1) % sliding->full_every == 0;
    add_heads(parts, sliding->heads, tp, sees_all ? 0 : sliding->window);
  } else if (const auto* mla = std::get_if<MlaAttention>(&model.attention)) {
    parts.push_back({"latent", Role::kv_key, 1, mla->kv_lora_rank + mla->rope_dim, {}, 1, 0, 0});
  } else {
    const auto& compressed = std::get<CompressedAttention>(model.attention);
    add_compressed(parts, compressed, compressed.ratios[layer]);
  }
  return parts;
}

Bytes entry_bytes(const KvPart& part, const Format& format) {
  return part.entry.count != 0 ? part.entry : format.bytes(part.heads, part.numbers);
}

std::uint64_t entries_of(const KvPart& part, std::uint64_t tokens) {
  const std::uint64_t entries = tokens / part.tokens_per_entry;
  return part.window == 0 ? entries : std::min(entries, part.window);
}

Bytes kv_bytes(const KvPart& part, std::uint64_t tokens, const Format& format) {
  return {entries_of(part, tokens) * entry_bytes(part, format).count};
}

Bytes kv_bytes_of_layer(const Model& model, std::uint32_t layer, std::uint64_t tokens,
                        const Format& format, std::uint32_t tp) {
  Bytes sum{};
  for (const KvPart& part : kv_parts(model, layer, tp))
    sum += kv_bytes(part, tokens, format);
  return sum;
}

Bytes kv_bytes(const Model& model, std::uint64_t tokens, const Format& format, std::uint32_t tp) {
  Bytes sum{};
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    sum += kv_bytes_of_layer(model, layer, tokens, format, tp);
  return sum;
}

Bytes kv_bytes_per_token(const Model& model, const Format& format, std::uint32_t tp) {
  const std::uint64_t tokens = model.max_context;
  return {(kv_bytes(model, tokens, format, tp).count + tokens / 2) / tokens};
}

} // namespace umf::shapes
