#include "traces/generate/step_builder.h"

#include <algorithm>

/// Attention over a window of tokens and over entries that stand for many: all of them, or those an
/// indexer chooses. Parts of the cache: window, entries, the indexer's (where there is one), those
/// that are not whole yet.
namespace umf::traces::generate {

using shapes::Slot;
using stream::Kernel;

namespace {

constexpr std::uint32_t kWindow = 0, kEntries = 1, kIndex = 2;

} // namespace

void StepBuilder::attend(Out& out, const shapes::CompressedAttention& a) {
  const LayerWeights& weights = of(out);
  const Weight& down = weights[Slot::qkv_a];
  const std::uint64_t n = step_.decode_tokens(), heads = a.heads / options_.tp;
  const std::uint64_t width = heads * a.head_dim;
  const Rows input = rows(Buffer::a, options_.model.hidden), ranks = rows(Buffer::b, down.out);
  out.write.product("qkv_a_proj", down, step_.tokens, input, ranks);
  Kernel& norm = out.write.start("latent_norm", 4 + step_.batch.size());
  out.write.read(ranks, step_.tokens);
  out.write.read(weights[Slot::q_a_norm]);
  out.write.read(weights[Slot::kv_a_norm]);
  out.write.write(rows(Buffer::b, a.q_lora_rank), step_.tokens);
  append_kv(out, kWindow);
  out.write.shape_rows(norm, step_.tokens, down.out * kActivation);
  out.write.product("q_b_proj", weights[Slot::q_b], step_.tokens, rows(Buffer::b, a.q_lora_rank),
                    rows(Buffer::c, width));
  const std::uint32_t ratio = a.ratios[out.layer];
  if (ratio != 0) compress(out, a);
  if (ratio != 0 && ratio == a.index_ratio) choose_entries(out, a);

  const double per_entry = 4.0 * static_cast<double>(width);
  const Decoding decoding{1,
                          heads,
                          a.head_dim,
                          rows(Buffer::c, width),
                          rows(Buffer::a, width),
                          per_entry,
                          &weights[Slot::attention_sink]};
  if (ratio != 0)
    decode_attention(out, decoding, {kWindow, kEntries});
  else
    decode_attention(out, decoding, {kWindow});
  if (!step_.prompts.empty()) {
    out.write.start("attn_prefill", 4 + 2 * step_.prompts.size());
    out.write.read(rows(Buffer::c, width, n), step_.prompt_tokens);
    out.write.read(weights[Slot::attention_sink]);
    double pairs = 0;
    for (std::uint32_t part = kWindow; part <= (ratio != 0 ? kEntries : kWindow); ++part) {
      read_kv(out, step_.prompts, part);
      pairs += prompt_pairs(parts_[out.layer][part], step_);
    }
    out.write.write(rows(Buffer::a, width, n), step_.prompt_tokens);
    prompt_attention(out, heads, per_entry * pairs);
  }
  const Weight& groups = weights[Slot::output_a];
  const Weight& output = weights[Slot::output_b];
  out.write.product("o_a_proj", groups, step_.tokens, rows(Buffer::a, width),
                    rows(Buffer::b, groups.out));
  out.write.product("o_b_proj", output, step_.tokens, rows(Buffer::b, output.in),
                    rows(Buffer::d, options_.model.hidden));
}

/// New tokens join the entries that are not whole yet; those that become whole are appended.
void StepBuilder::compress(Out& out, const shapes::CompressedAttention& a) {
  const LayerWeights& weights = of(out);
  const ScratchOf at(a);
  const std::uint64_t most = options_.max_tokens;
  const Rows input = rows(Buffer::a, options_.model.hidden);
  const Weight& matrix = weights[Slot::compressor];
  const Weight& index = weights[Slot::index_compressor];
  const Rows made{Buffer::scratch, matrix.out * 4, at.compressor * most};
  const Rows index_made{Buffer::scratch, index.out * 4, at.index_compressor * most};
  out.write.product("compressor", matrix, step_.tokens, input, made);
  if (index.exists()) out.write.product("index_compress", index, step_.tokens, input, index_made);
  const std::uint32_t unfinished = index.exists() ? kIndex + 1 : kIndex;
  Kernel& kernel = out.write.start("compress", 6 + 4 * step_.batch.size());
  out.write.read(made, step_.tokens);
  out.write.read(weights[Slot::compressor_rest]);
  if (index.exists()) {
    out.write.read(index_made, step_.tokens);
    out.write.read(weights[Slot::index_compressor_rest]);
  }
  read_kv(out, step_.decodes, unfinished);
  append_kv(out, unfinished);
  append_kv(out, kEntries);
  if (index.exists()) append_kv(out, kIndex);
  out.write.shape_rows(kernel, step_.tokens, made.width);
}

/// Scores every entry for every token and keeps the best; scores stay on the chip.
void StepBuilder::choose_entries(Out& out, const shapes::CompressedAttention& a) {
  const LayerWeights& weights = of(out);
  const ScratchOf at(a);
  const std::uint64_t most = options_.max_tokens;
  const Weight& queries = weights[Slot::index_q];
  const Weight& heads = weights[Slot::index_weights];
  const Rows asked{Buffer::scratch, queries.out * kActivation, at.index_q * most};
  const Rows weighed{Buffer::scratch, heads.out * kActivation, at.index_weights * most};
  out.write.product("index_q", queries, step_.tokens, rows(Buffer::b, a.q_lora_rank), asked);
  out.write.product("index_weights", heads, step_.tokens, rows(Buffer::a, options_.model.hidden),
                    weighed);
  Kernel& kernel = out.write.start("index_top_k", 3 + step_.batch.size());
  out.write.read(asked, step_.tokens);
  out.write.read(weighed, step_.tokens);
  double scored = prompt_pairs(parts_[out.layer][kIndex], step_);
  scored += static_cast<double>(read_kv(out, step_.decodes, kIndex));
  read_kv(out, step_.prompts, kIndex);
  out.write.write({Buffer::scratch, std::uint64_t{a.index_top_k} * 4, at.chosen * most},
                  step_.tokens);
  kernel.flops = 2.0 * a.index_heads * a.index_dim * scored;
  kernel.flops_dtype = stream::DType::f8; // as its entries are stored
  kernel.grid = {
      static_cast<std::uint32_t>(std::max<std::uint64_t>(options_.sms, (step_.tokens + 63) / 64)),
      1, 1};
  kernel.block = {256, 1, 1};
  kernel.shared_memory = 128_KiB;
}

} // namespace umf::traces::generate
