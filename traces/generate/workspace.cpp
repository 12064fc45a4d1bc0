#include "traces/generate/workspace.h"

#include <algorithm>

namespace umf::traces::generate {

namespace {

using shapes::Slot;

/// Bytes of a token in each buffer, the widest of all layers.
struct Widths {
  std::uint64_t a = 0, b = 0, c = 0, scratch = 0;
  std::uint64_t expanded = 0; ///< of a token of a prompt's context
  std::uint64_t head_out = 0; ///< numbers of all heads' outputs before they are joined
};

void widen(std::uint64_t& width, std::uint64_t numbers) {
  width = std::max(width, numbers * kActivation);
}

void widen(Widths& w, const shapes::Model& model, const shapes::Matrix& m) {
  const std::uint64_t k = model.ffn.top_k;
  switch (m.slot) {
  case Slot::qkv:
  case Slot::qkv_a:
  case Slot::output_a:
    return widen(w.b, m.out);
  case Slot::q_b:
    return widen(w.c, m.out);
  case Slot::gate_up:
  case Slot::shared_gate_up:
    widen(w.c, m.out / 2);
    return widen(w.b, m.out);
  case Slot::expert_gate_up:
    widen(w.c, k * m.out / 2);
    return widen(w.b, k * m.out);
  case Slot::expert_down:
    return widen(w.b, k * m.out);
  case Slot::output:
    return widen(w.a, m.in);
  case Slot::router:
    return widen(w.c, 2 * m.out); // 32 bits
  default:
    return;
  }
}

Widths widths_of(const StepOptions& options) {
  const shapes::Model& model = options.model;
  Widths w;
  widen(w.a, model.hidden);
  w.scratch =
      std::max(std::uint64_t{model.ffn.top_k} * kChoice, std::uint64_t{options.lora_rank} * 4);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    for (const shapes::Matrix& m : shapes::matrices_of_layer(model, layer, options.tp))
      widen(w, model, m);
  const std::uint64_t heads = shapes::query_heads(model) / options.tp;
  if (const auto* mla = std::get_if<shapes::MlaAttention>(&model.attention)) {
    widen(w.a, heads * mla->kv_lora_rank);
    widen(w.b, heads * mla->kv_lora_rank);
    w.expanded = heads * (mla->nope_dim + mla->rope_dim + mla->value_dim) * kActivation;
    w.head_out = heads * mla->kv_lora_rank;
  } else if (const auto* c = std::get_if<shapes::CompressedAttention>(&model.attention)) {
    widen(w.a, heads * c->head_dim);
    w.scratch = std::max(w.scratch, ScratchOf(*c).bytes);
    w.head_out = heads * c->head_dim;
  } else {
    const auto* sliding = std::get_if<shapes::SlidingAttention>(&model.attention);
    const auto& full = sliding ? sliding->heads : std::get<shapes::FullAttention>(model.attention);
    w.head_out = heads * full.head_dim;
  }
  return w;
}

} // namespace

ScratchOf::ScratchOf(const shapes::CompressedAttention& a) {
  const auto after = [this](std::uint64_t& offset, std::uint64_t numbers, std::uint64_t size) {
    offset = bytes;
    bytes += numbers * size;
  };
  after(compressor, 4 * std::uint64_t{a.head_dim}, 4);
  after(index_compressor, 4 * std::uint64_t{a.index_dim}, 4);
  after(index_q, std::uint64_t{a.index_heads} * a.index_dim, kActivation);
  after(index_weights, a.index_heads, kActivation);
  after(chosen, a.index_top_k, 4);
}

Workspace::Workspace(const StepOptions& options, Numbers& numbers) {
  const Widths w = widths_of(options);
  const std::uint64_t tokens = options.max_tokens;
  const std::uint64_t hidden = std::uint64_t{options.model.hidden} * kActivation;
  const std::uint64_t streams = std::max(options.model.hyper_connections, 1u);
  const std::uint64_t vocabulary = std::uint64_t{options.model.vocabulary} * kActivation;
  // A number of each head's output, their maxima and sums, in 32 bits.
  const std::uint64_t partial = (w.head_out + 2 * shapes::query_heads(options.model)) * 4;
  const std::uint64_t splits =
      std::min<std::uint64_t>(options.max_sequences * kMostSplits, options.sms);
  const std::array<std::uint64_t, kBuffers> sizes = {tokens * hidden * streams,
                                                     tokens * w.a,
                                                     tokens * w.b,
                                                     tokens * w.c,
                                                     tokens * hidden,
                                                     tokens * w.scratch,
                                                     w.expanded * options.max_context,
                                                     partial * splits,
                                                     options.max_sequences * vocabulary,
                                                     std::max(tokens, options.max_sequences) * 4};
  constexpr const char* names[] = {"residual", "buffer_a",    "buffer_b", "buffer_c", "buffer_d",
                                   "scratch",  "expanded_kv", "partial",  "logits",   "token_ids"};
  for (std::size_t i = 0; i < kBuffers; ++i) {
    stream::Tensor& tensor = tensors_[i];
    tensor.id = numbers.tensor++;
    tensor.name = names[i];
    tensor.role = static_cast<Buffer>(i) == Buffer::partial ? stream::Role::workspace
                                                            : stream::Role::activation;
    tensor.dtype = static_cast<Buffer>(i) == Buffer::partial  ? stream::DType::f32
                   : static_cast<Buffer>(i) == Buffer::tokens ? stream::DType::i32
                                                              : stream::DType::bf16;
    tensor.bytes = {sizes[i]};
  }
}

void Workspace::declare(std::vector<stream::Record>& records) const {
  for (const stream::Tensor& tensor : tensors_)
    if (tensor.bytes.count != 0) records.emplace_back(tensor);
}

} // namespace umf::traces::generate
