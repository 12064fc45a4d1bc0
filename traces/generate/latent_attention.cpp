#include "traces/generate/step_builder.h"

/// Multi-head latent attention: decoding works on latents (the key's and value's matrices absorbed
/// into query and output), prompts on keys and values made anew from them.
namespace umf::traces::generate {

using shapes::Slot;
using stream::Kernel;

void StepBuilder::attend(Out& out, const shapes::MlaAttention& a) {
  const LayerWeights& weights = of(out);
  const Weight& down = weights[Slot::qkv_a];
  const Weight& queries = weights[Slot::q_b];
  const Rows input = rows(Buffer::a, options_.model.hidden);
  const Rows ranks = rows(Buffer::b, down.out);
  out.write.product("qkv_a_proj", down, step_.tokens, input, ranks);
  Kernel& norm = out.write.start("latent_norm", 4 + step_.batch.size());
  out.write.read(ranks, step_.tokens);
  out.write.read(weights[Slot::q_a_norm]);
  out.write.read(weights[Slot::kv_a_norm]);
  out.write.write(rows(Buffer::b, a.q_lora_rank), step_.tokens);
  append_kv(out, 0);
  out.write.shape_rows(norm, step_.tokens, down.out * kActivation);
  out.write.product("q_b_proj", queries, step_.tokens,
                    a.q_lora_rank != 0 ? rows(Buffer::b, a.q_lora_rank) : input,
                    rows(Buffer::c, queries.out));
  if (step_.decode_tokens() != 0) absorbed(out, a);
  if (!step_.prompts.empty()) expanded(out, a);
  const Weight& output = weights[Slot::output];
  project(out, Slot::output, rows(Buffer::a, output.in), rows(Buffer::d, options_.model.hidden));
}

/// kv_b lies as all heads' keys, then all heads' values.
void StepBuilder::absorbed(Out& out, const shapes::MlaAttention& a) {
  const Weight& kv_b = of(out)[Slot::kv_b];
  const std::uint64_t heads = a.heads / options_.tp, n = step_.decode_tokens();
  const Bytes keys = options_.weights.matrices.bytes(heads * a.nope_dim, a.kv_lora_rank);
  const Rows queries = rows(Buffer::c, heads * (a.nope_dim + a.rope_dim));
  const Rows latents = rows(Buffer::b, heads * a.kv_lora_rank);
  const auto absorb = [&](const char* name, std::uint64_t offset, Bytes bytes, const Rows& in,
                          const Rows& result, std::uint64_t head) {
    Kernel& kernel = out.write.start(name, 3);
    out.write.read(kv_b.tensor, bytes, offset);
    out.write.read(in, n);
    out.write.write(result, n);
    kernel.flops = 2.0 * static_cast<double>(n * heads * head) * a.kv_lora_rank;
    kernel.flops_dtype = kv_b.compute;
    out.write.shape_product(kernel, n, heads * head, a.kv_lora_rank);
  };
  absorb("q_absorb", 0, keys, queries, rows(Buffer::a, heads * a.kv_lora_rank), a.nope_dim);
  // One KV head, whose value is the latent part of the key.
  const double per_entry = 2.0 * static_cast<double>(heads) * (2.0 * a.kv_lora_rank + a.rope_dim);
  decode_attention(
      out, {1, heads, a.kv_lora_rank, rows(Buffer::a, heads * a.kv_lora_rank), latents, per_entry},
      {0});
  absorb("v_absorb", keys.count, kv_b.bytes - keys, latents, rows(Buffer::a, heads * a.value_dim),
         a.value_dim);
}

void StepBuilder::expanded(Out& out, const shapes::MlaAttention& a) {
  const Weight& kv_b = of(out)[Slot::kv_b];
  const std::uint64_t heads = a.heads / options_.tp, n = step_.decode_tokens();
  const std::uint64_t query = heads * (a.nope_dim + a.rope_dim), value = heads * a.value_dim;
  const Rows all = rows(Buffer::expanded, query + value);
  Kernel& up = out.write.start("kv_b_proj", 2 + step_.prompts.size());
  out.write.read(kv_b);
  read_kv(out, step_.prompts, 0);
  out.write.write(all, step_.prompt_context);
  up.flops =
      2.0 * static_cast<double>(step_.prompt_context) * static_cast<double>(kv_b.out * kv_b.in);
  up.flops_dtype = kv_b.compute;
  out.write.shape_product(up, step_.prompt_context, kv_b.out, kv_b.in);

  out.write.start("attn_prefill", 3);
  out.write.read(rows(Buffer::c, query, n), step_.prompt_tokens);
  out.write.read(all, step_.prompt_context);
  out.write.write(rows(Buffer::a, value, n), step_.prompt_tokens);
  prompt_attention(out, heads,
                   2.0 * static_cast<double>(query + value) *
                       prompt_pairs(parts_[out.layer][0], step_));
}

} // namespace umf::traces::generate
