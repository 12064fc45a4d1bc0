#include "traces/generate/step_builder.h"

#include <algorithm>

/// Attention over keys and values of all or grouped heads, and what all kinds share.
namespace umf::traces::generate {

using shapes::Slot;
using stream::Kernel;

std::uint64_t StepBuilder::read_kv(Out& out, const std::vector<std::uint32_t>& which,
                                   std::uint32_t part) {
  return out.kv.read({out.layer, part, parts_[out.layer][part], step_.batch, which},
                     out.write.accesses());
}

void StepBuilder::append_kv(Out& out, std::uint32_t part) {
  const KvAsk ask{out.layer, part, parts_[out.layer][part], step_.batch, step_.decodes};
  if (!step_.decodes.empty()) out.kv.append(ask, out.write.accesses());
  if (!step_.prompts.empty())
    out.kv.append({ask.layer, part, ask.part, step_.batch, step_.prompts}, out.write.accesses());
}

void StepBuilder::reclaim_kv(Out& out, std::uint32_t part) {
  const shapes::KvPart& which = parts_[out.layer][part];
  if (which.window == 0) return;
  out.kv.reclaim({out.layer, part, which, step_.batch, step_.decodes}, out.write.records());
  out.kv.reclaim({out.layer, part, which, step_.batch, step_.prompts}, out.write.records());
}

void StepBuilder::decode_attention(Out& out, const Decoding& d,
                                   std::initializer_list<std::uint32_t> parts) {
  const std::uint64_t n = step_.decode_tokens();
  if (n == 0) return;
  Kernel& kernel = out.write.start("attn_decode", 2 * n + 3);
  out.write.read(d.queries, n);
  if (d.sink != nullptr) out.write.read(*d.sink);
  std::uint64_t entries = 0;
  // A key and a value of the same entry are two parts, and one entry.
  const auto& known = parts_[out.layer];
  for (const std::uint32_t part : parts) {
    const std::uint64_t met = read_kv(out, step_.decodes, part);
    if (known[part].role != stream::Role::kv_value) entries += met;
  }
  const std::uint64_t tiles = (entries / n + kKeyTile - 1) / kKeyTile;
  const std::uint64_t splits = std::clamp<std::uint64_t>(
      options_.sms / (n * d.kv_heads), 1, std::clamp<std::uint64_t>(tiles, 1, kMostSplits));
  // Of each split a number of the output, its maximum and its sum, in 32 bits.
  const Rows partial{Buffer::partial, (d.heads * (d.dim + 2)) * 4 * splits, 0};
  out.write.write(splits > 1 ? partial : d.results, n);
  kernel.flops = d.flops_per_entry * static_cast<double>(entries);
  kernel.flops_dtype = attention_dtype();
  kernel.grid = {static_cast<std::uint32_t>(splits), static_cast<std::uint32_t>(d.kv_heads),
                 static_cast<std::uint32_t>(n)};
  kernel.block = {384, 1, 1}; // three warp groups
  kernel.shared_memory = 128_KiB;
  if (splits == 1) return;
  Kernel& join = out.write.start("attn_reduce", 2);
  out.write.read(partial, n);
  out.write.write(d.results, n);
  out.write.shape_rows(join, n * d.heads, d.dim * kActivation);
}

void StepBuilder::prompt_attention(Out& out, std::uint64_t heads, double flops) {
  Kernel& kernel = out.write.kernel();
  kernel.flops = flops;
  kernel.flops_dtype = attention_dtype();
  kernel.grid = {static_cast<std::uint32_t>((step_.prompt_tokens + 127) / 128),
                 static_cast<std::uint32_t>(heads), 1};
  kernel.block = {384, 1, 1};
  kernel.shared_memory = 200_KiB;
}

void StepBuilder::attend(Out& out, const shapes::FullAttention& a) {
  const LayerWeights& weights = of(out);
  const Weight& qkv = weights[Slot::qkv];
  const std::uint64_t heads = a.heads / options_.tp, kv_heads = shapes::kv_heads_on(a, options_.tp);
  const std::uint64_t n = step_.decode_tokens();
  const Rows projected = rows(Buffer::b, qkv.out);
  project(out, Slot::qkv, rows(Buffer::a, options_.model.hidden), projected);

  Kernel& rotate = out.write.start("rope_append", 4 + 2 * step_.batch.size());
  out.write.read(projected, step_.tokens);
  out.write.read(weights[Slot::q_norm]);
  out.write.read(weights[Slot::k_norm]);
  // Queries in place: as many bytes, not the same rows.
  out.write.write(rows(Buffer::b, heads * a.head_dim), step_.tokens);
  append_kv(out, 0);
  append_kv(out, 1);
  out.write.shape_rows(rotate, step_.tokens, qkv.out * kActivation);

  const std::uint64_t width = heads * a.head_dim;
  const double per_entry = 4.0 * static_cast<double>(width);
  decode_attention(
      out, {kv_heads, heads, a.head_dim, rows(Buffer::b, width), rows(Buffer::a, width), per_entry},
      {0, 1});
  if (!step_.prompts.empty()) {
    out.write.start("attn_prefill", 3 + 2 * step_.prompts.size());
    out.write.read(rows(Buffer::b, width, n), step_.prompt_tokens);
    read_kv(out, step_.prompts, 0);
    read_kv(out, step_.prompts, 1);
    out.write.write(rows(Buffer::a, width, n), step_.prompt_tokens);
    prompt_attention(out, heads, per_entry * prompt_pairs(parts_[out.layer][0], step_));
  }
  reclaim_kv(out, 0);
  reclaim_kv(out, 1);
  project(out, Slot::output, rows(Buffer::a, width), rows(Buffer::d, options_.model.hidden));
}

} // namespace umf::traces::generate
