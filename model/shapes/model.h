#pragma once

#include "model/base/keys.h"
#include "model/shapes/format.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Shapes of large language models as data: a JSON file a model, with the source of each figure.
/// All that is computed from them (weights, KV cache) is in matrices.h, kv.h and totals.h.
namespace umf::shapes {

/// Every layer sees all tokens before it. As many KV heads as heads is multi-head attention, one is
/// multi-query, between is grouped-query.
struct FullAttention {
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_dim = 0; ///< read, never hidden / heads
  bool qkv_bias = false;
  bool qk_norm = false; ///< a norm over each head of queries and keys
};

/// Full attention whose layers see the last `window` tokens, but for some.
struct SlidingAttention {
  FullAttention heads;
  std::uint64_t window = 0;
  std::uint32_t full_every = 0; ///< every such layer sees all tokens; 0: none does
};

/// Multi-head latent attention (DeepSeek-V2): one low-rank latent and one rotated key for all
/// heads.
struct MlaAttention {
  std::uint32_t heads = 0;
  std::uint32_t q_lora_rank = 0; ///< 0: queries are projected at once
  std::uint32_t kv_lora_rank = 0;
  std::uint32_t rope_dim = 0;  ///< of a head, rotated
  std::uint32_t nope_dim = 0;  ///< of a head, not rotated
  std::uint32_t value_dim = 0; ///< of a head
};

/// Compressed attention (DeepSeek-V4): one shared KV head; each layer keeps a window of the last
/// tokens and an entry for every `ratio` tokens. Layers of ratio `index_ratio` read `index_top_k`
/// of their entries, chosen by an indexer; the others read all.
struct CompressedAttention {
  std::uint32_t heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t rope_dim = 0;
  std::uint32_t q_lora_rank = 0;
  std::uint32_t o_lora_rank = 0;
  std::uint32_t o_groups = 0;
  std::uint64_t window = 0;
  std::vector<std::uint32_t> ratios; ///< of each layer; 0: the window alone
  std::uint32_t index_ratio = 0;
  std::uint32_t index_heads = 0;
  std::uint32_t index_dim = 0;
  std::uint32_t index_top_k = 0;
  Bytes index_entry{};
};

using Attention = std::variant<FullAttention, SlidingAttention, MlaAttention, CompressedAttention>;

/// Feed-forward part: a gated one in dense layers, a mixture of experts in the others.
struct Ffn {
  std::uint32_t dense = 0;        ///< width in dense layers; 0 where there are none
  std::uint32_t dense_layers = 0; ///< the first ones, where there are experts
  std::uint32_t experts = 0;      ///< routed; 0: all layers are dense
  std::uint32_t top_k = 0;        ///< routed experts of a token
  std::uint32_t shared_experts = 0;
  std::uint32_t expert = 0; ///< width of one expert
  bool router_bias = false;
};

struct Model {
  std::string name;
  std::uint32_t layers = 0;
  std::uint32_t hidden = 0;
  std::uint32_t vocabulary = 0;
  std::uint64_t max_context = 0; ///< tokens
  bool tied_embeddings = false;
  std::uint32_t hyper_connections = 0; ///< residual streams beside one another; 0: one, plain
  Format weights;                      ///< as published, of matrices
  Format experts;                      ///< as published, of routed experts
  Attention attention;
  Ffn ffn;

  bool is_moe(std::uint32_t layer) const { return ffn.experts != 0 && layer >= ffn.dense_layers; }
};

/// Heads that ask, of any kind of attention.
std::uint32_t query_heads(const Model& model);
/// "full", "sliding-window", "mla", "compressed".
std::string_view attention_kind(const Model& model);

/// Reads and checks; faults go to the context.
Model read_model(const JsonValue& object, KeyContext& context);

/// A shipped model by name, or the user's own when `name` ends in ".json". Throws UserError.
Model find_model(std::string_view name);

struct EmbeddedModel {
  std::string_view name; ///< of its file
  std::string_view text; ///< JSON
};

/// The files of model/shapes/data, by name.
std::span<const EmbeddedModel> shipped_models();
std::vector<std::string> shipped_model_names();

/// What a model file holds, for `umfsim describe`.
std::span<const Section> model_sections();

} // namespace umf::shapes
