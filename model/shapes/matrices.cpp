#include "model/shapes/matrices.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::shapes {

namespace {

constexpr std::string_view kPartNames[] = {"attention", "ffn",      "expert",   "router",
                                           "norm",      "residual", "embedding"};
constexpr std::string_view kSlotNames[] = {
    "input_norm",  "residual_attn",   "qkv_proj",       "qkv_bias",      "q_norm",
    "k_norm",      "qkv_a_proj",      "q_a_norm",       "q_b_proj",      "kv_a_norm",
    "kv_b_proj",   "o_proj",          "o_a_proj",       "o_b_proj",      "attn_sink",
    "compressor",  "compressor_rest", "index_q",        "index_weights", "index_compressor",
    "index_rest",  "post_norm",       "residual_ffn",   "gate_up_proj",  "down_proj",
    "router",      "router_bias",     "shared_gate_up", "shared_down",   "expert_gate_up",
    "expert_down", "embedding",       "residual_head",  "final_norm",    "lm_head"};
static_assert(std::size(kPartNames) == kParts && std::size(kSlotNames) == kSlots);

using Matrices = std::vector<Matrix>;

void vector_of(Matrices& all, Slot slot, Part part, std::uint64_t length) {
  all.push_back({slot, part, length, 1, 1, false});
}

void product(Matrices& all, Slot slot, Part part, std::uint64_t out, std::uint64_t in,
             std::uint32_t copies = 1) {
  all.push_back({slot, part, out, in, copies, true});
}

void plain(Matrices& all, Slot slot, Part part, std::uint64_t out, std::uint64_t in) {
  all.push_back({slot, part, out, in, 1, false});
}

void add(Matrices& all, const Model& m, const FullAttention& a, std::uint32_t tp) {
  const std::uint64_t heads = a.heads / tp;
  const std::uint64_t rows = (heads + 2ULL * kv_heads_on(a, tp)) * a.head_dim;
  product(all, Slot::qkv, Part::attention, rows, m.hidden);
  if (a.qkv_bias) vector_of(all, Slot::qkv_bias, Part::attention, rows);
  if (a.qk_norm) {
    vector_of(all, Slot::q_norm, Part::norm, a.head_dim);
    vector_of(all, Slot::k_norm, Part::norm, a.head_dim);
  }
  product(all, Slot::output, Part::attention, m.hidden, heads * a.head_dim);
}

void add(Matrices& all, const Model& m, const MlaAttention& a, std::uint32_t tp) {
  const std::uint64_t heads = a.heads / tp;
  const std::uint64_t latent = std::uint64_t{a.kv_lora_rank} + a.rope_dim;
  product(all, Slot::qkv_a, Part::attention, a.q_lora_rank + latent, m.hidden);
  if (a.q_lora_rank != 0) vector_of(all, Slot::q_a_norm, Part::norm, a.q_lora_rank);
  product(all, Slot::q_b, Part::attention, heads * (a.nope_dim + a.rope_dim),
          a.q_lora_rank != 0 ? a.q_lora_rank : m.hidden);
  vector_of(all, Slot::kv_a_norm, Part::norm, a.kv_lora_rank);
  product(all, Slot::kv_b, Part::attention, heads * (a.nope_dim + a.value_dim), a.kv_lora_rank);
  product(all, Slot::output, Part::attention, m.hidden, heads * a.value_dim);
}

/// An entry that overlaps its neighbour is made of twice as many tokens, by two weightings.
void add_compressor(Matrices& all, const Model& m, std::uint64_t ratio, bool overlaps,
                    std::uint64_t dim, Slot matrix, Slot rest) {
  const std::uint64_t width = (overlaps ? 2 : 1) * dim;
  plain(all, matrix, Part::attention, 2 * width, m.hidden);
  vector_of(all, rest, Part::attention, ratio * width + dim);
}

void add(Matrices& all, const Model& m, const CompressedAttention& a, std::uint32_t layer,
         std::uint32_t tp) {
  const std::uint64_t heads = a.heads / tp, groups = a.o_groups / tp;
  product(all, Slot::qkv_a, Part::attention, std::uint64_t{a.q_lora_rank} + a.head_dim, m.hidden);
  vector_of(all, Slot::q_a_norm, Part::norm, a.q_lora_rank);
  product(all, Slot::q_b, Part::attention, heads * a.head_dim, a.q_lora_rank);
  vector_of(all, Slot::kv_a_norm, Part::norm, a.head_dim);
  vector_of(all, Slot::attention_sink, Part::attention, heads);
  product(all, Slot::output_a, Part::attention, groups * a.o_lora_rank,
          std::uint64_t{a.heads / a.o_groups} * a.head_dim);
  product(all, Slot::output_b, Part::attention, m.hidden, groups * a.o_lora_rank);
  const std::uint64_t ratio = a.ratios[layer];
  if (ratio == 0) return;
  const bool indexed = ratio == a.index_ratio;
  add_compressor(all, m, ratio, indexed, a.head_dim, Slot::compressor, Slot::compressor_rest);
  if (!indexed) return;
  product(all, Slot::index_q, Part::attention, std::uint64_t{a.index_heads} * a.index_dim,
          a.q_lora_rank);
  plain(all, Slot::index_weights, Part::attention, a.index_heads, m.hidden);
  add_compressor(all, m, ratio, true, a.index_dim, Slot::index_compressor,
                 Slot::index_compressor_rest);
}

void add_ffn(Matrices& all, const Model& m, std::uint32_t layer, std::uint32_t tp) {
  const Ffn& f = m.ffn;
  if (!m.is_moe(layer)) {
    product(all, Slot::gate_up, Part::ffn, 2 * std::uint64_t{f.dense / tp}, m.hidden);
    return product(all, Slot::down, Part::ffn, m.hidden, f.dense / tp);
  }
  plain(all, Slot::router, Part::router, f.experts, m.hidden);
  if (f.router_bias) vector_of(all, Slot::router_bias, Part::router, f.experts);
  const std::uint64_t width = f.expert / tp;
  if (f.shared_experts != 0) {
    product(all, Slot::shared_gate_up, Part::ffn, 2 * width * f.shared_experts, m.hidden);
    product(all, Slot::shared_down, Part::ffn, m.hidden, width * f.shared_experts);
  }
  product(all, Slot::expert_gate_up, Part::expert, 2 * width, m.hidden, f.experts);
  product(all, Slot::expert_down, Part::expert, m.hidden, width, f.experts);
}

/// Weights that read, write and mix n streams: a matrix over all of them, its bias, three scales.
void add_residual(Matrices& all, const Model& m, Slot slot) {
  const std::uint64_t n = m.hyper_connections;
  if (n == 0) return;
  vector_of(all, slot, Part::residual, (2 + n) * n * (n * m.hidden + 1) + 3);
}

} // namespace

std::string_view name_of(Part part) {
  return kPartNames[static_cast<std::size_t>(part)];
}

std::string_view name_of(Slot slot) {
  return kSlotNames[static_cast<std::size_t>(slot)];
}

std::uint32_t kv_heads_on(const FullAttention& attention, std::uint32_t tp) {
  return std::max(attention.kv_heads / tp, 1u);
}

std::vector<Matrix> matrices_of_layer(const Model& model, std::uint32_t layer, std::uint32_t tp) {
  Matrices all;
  vector_of(all, Slot::input_norm, Part::norm, model.hidden);
  add_residual(all, model, Slot::residual_attention);
  if (const auto* full = std::get_if<FullAttention>(&model.attention)) add(all, model, *full, tp);
  if (const auto* sliding = std::get_if<SlidingAttention>(&model.attention))
    add(all, model, sliding->heads, tp);
  if (const auto* mla = std::get_if<MlaAttention>(&model.attention)) add(all, model, *mla, tp);
  if (const auto* compressed = std::get_if<CompressedAttention>(&model.attention))
    add(all, model, *compressed, layer, tp);
  vector_of(all, Slot::post_norm, Part::norm, model.hidden);
  add_residual(all, model, Slot::residual_ffn);
  add_ffn(all, model, layer, tp);
  return all;
}

std::vector<Matrix> matrices_around(const Model& model, std::uint32_t tp) {
  Matrices all;
  const std::uint64_t rows = (model.vocabulary + tp - 1) / tp;
  plain(all, Slot::embedding, Part::embedding, rows, model.hidden);
  if (const std::uint64_t n = model.hyper_connections; n != 0)
    vector_of(all, Slot::residual_head, Part::residual, n * (n * model.hidden + 1) + 1);
  vector_of(all, Slot::final_norm, Part::norm, model.hidden);
  if (!model.tied_embeddings) plain(all, Slot::lm_head, Part::embedding, rows, model.hidden);
  return all;
}

void check_parallel(const Model& model, std::uint32_t tp) {
  const auto divides = [&](std::string_view what, std::uint64_t count) {
    if (tp == 0 || count % tp != 0)
      throw UserError(fmt::format("{}: a tensor parallel degree of {} does not divide its {} {}, "
                                  "expected a divisor",
                                  model.name, tp, count, what));
  };
  divides("heads", query_heads(model));
  const auto* full = std::get_if<FullAttention>(&model.attention);
  if (const auto* sliding = std::get_if<SlidingAttention>(&model.attention)) full = &sliding->heads;
  if (full != nullptr && tp % full->kv_heads != 0) divides("KV heads", full->kv_heads);
  if (const auto* c = std::get_if<CompressedAttention>(&model.attention))
    divides("groups of the output", c->o_groups);
  if (model.ffn.dense != 0) divides("columns of the dense FFN", model.ffn.dense);
  if (model.ffn.experts != 0) divides("columns of an expert", model.ffn.expert);
}

WeightFormats published_formats(const Model& model) {
  return {model.weights, model.experts, {}};
}

WeightFormats weight_formats(const Model& model, std::string_view matrices,
                             std::string_view experts) {
  WeightFormats formats = published_formats(model);
  if (!matrices.empty())
    formats.matrices = formats.experts = parse_format(matrices, "--weight-dtype");
  if (!experts.empty()) formats.experts = parse_format(experts, "--expert-dtype");
  return formats;
}

const Format& format_of(const Matrix& matrix, const WeightFormats& formats) {
  if (!matrix.quantised) return formats.rest;
  return matrix.part == Part::expert ? formats.experts : formats.matrices;
}

Bytes bytes_of(const Matrix& matrix, const WeightFormats& formats) {
  return format_of(matrix, formats).bytes(matrix.out * matrix.copies, matrix.in);
}

} // namespace umf::shapes
