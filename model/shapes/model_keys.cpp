#include "model/shapes/model_keys.h"

namespace umf::shapes {

namespace {

constexpr std::uint32_t kMostHeads = 4096, kMostDim = 65'536, kMostWide = 1'048'576;

KeyOptions<std::uint32_t> size_key(std::string help, std::uint32_t least, std::uint32_t most) {
  return {.help = std::move(help), .min = least, .max = most, .required = true};
}

/// Keys that full and sliding-window attention have in common, at `C::*path`.
Component<FullAttention> with_head_keys(std::string name, std::string help) {
  return Component<FullAttention>(std::move(name), std::move(help))
      .key("heads", &FullAttention::heads, size_key("Query heads.", 1, kMostHeads))
      .key("kv_heads", &FullAttention::kv_heads,
           size_key("Heads of keys and values: as many as heads is MHA, one MQA, between GQA.", 1,
                    kMostHeads))
      .key("head_dim", &FullAttention::head_dim,
           size_key("Numbers of a head. Read, never taken for hidden / heads.", 1, kMostDim))
      .key("qkv_bias", &FullAttention::qkv_bias,
           {.help = "Whether the projections of queries, keys and values add a bias.",
            .source = "most models have none"})
      .key("qk_norm", &FullAttention::qk_norm,
           {.help = "Whether each head of queries and keys is normalised.",
            .source = "most models do not"});
}

} // namespace

const Component<FullAttention>& full_component() {
  static const auto keys =
      with_head_keys("attention.full", "Every layer sees all tokens before it (MHA, GQA, MQA).");
  return keys;
}

const Component<SlidingAttention>& sliding_component() {
  static const auto keys =
      Component<SlidingAttention>("attention.sliding-window",
                                  "Layers see the last tokens alone, but for some.")
          .group("heads", &SlidingAttention::heads,
                 with_head_keys("heads", "Heads as of full attention."))
          .key("window", &SlidingAttention::window,
               {.help = "Tokens that a layer sees, the newest included.",
                .min = 1,
                .max = 1'000'000'000,
                .required = true})
          .key("full_every", &SlidingAttention::full_every,
               {.help = "Every such layer (the 6th, the 12th, ... of 6) sees all tokens; 0: none.",
                .min = 0,
                .max = 1000,
                .source = "all layers alike"});
  return keys;
}

const Component<MlaAttention>& mla_component() {
  static const auto keys =
      Component<MlaAttention>("attention.mla",
                              "Multi-head latent attention: a token keeps one latent and one "
                              "rotated key for all heads.")
          .key("heads", &MlaAttention::heads, size_key("Query heads.", 1, kMostHeads))
          .key("q_lora_rank", &MlaAttention::q_lora_rank,
               {.help = "Rank of the queries' projection; 0: it is one matrix.",
                .min = 0,
                .max = kMostDim,
                .source = "one matrix"})
          .key("kv_lora_rank", &MlaAttention::kv_lora_rank,
               size_key("Numbers of the latent a token keeps.", 1, kMostDim))
          .key(
              "rope_dim", &MlaAttention::rope_dim,
              size_key("Numbers of a head that are rotated; a token keeps them once.", 1, kMostDim))
          .key("nope_dim", &MlaAttention::nope_dim,
               size_key("Numbers of a head of queries that are not rotated.", 1, kMostDim))
          .key("value_dim", &MlaAttention::value_dim,
               size_key("Numbers of a head of values.", 1, kMostDim));
  return keys;
}

const Component<CompressedAttention>& compressed_component() {
  using C = CompressedAttention;
  static const auto keys =
      Component<C>("attention.compressed",
                   "One shared KV head: the last tokens as they are, older ones many to an entry.")
          .key("heads", &C::heads, size_key("Query heads.", 1, kMostHeads))
          .key("head_dim", &C::head_dim,
               size_key("Numbers of the shared KV head and of a query head.", 1, kMostDim))
          .key("rope_dim", &C::rope_dim,
               size_key("Numbers of a head that are rotated.", 1, kMostDim))
          .key("q_lora_rank", &C::q_lora_rank,
               size_key("Rank of the queries' projection.", 1, kMostDim))
          .key("o_lora_rank", &C::o_lora_rank,
               size_key("Rank of each group of the output's projection.", 1, kMostDim))
          .key("o_groups", &C::o_groups,
               size_key("Groups of heads in the output's projection.", 1, kMostHeads))
          .key("window", &C::window,
               {.help = "Last tokens that are kept as they are.",
                .min = 1,
                .max = 1'000'000'000,
                .required = true})
          .key("ratios", &C::ratios,
               {.help = "For each layer, tokens that become one entry; 0: the window alone.",
                .min = 0,
                .max = 65'536,
                .required = true})
          .key("index_ratio", &C::index_ratio,
               {.help = "Layers of this ratio choose entries by an indexer, and their entries "
                        "overlap; the others read all entries.",
                .min = 1,
                .max = 65'536,
                .required = true})
          .key("index_heads", &C::index_heads, size_key("Heads of the indexer.", 1, kMostHeads))
          .key("index_dim", &C::index_dim, size_key("Numbers of an indexer's head.", 1, kMostDim))
          .key("index_top_k", &C::index_top_k,
               size_key("Entries that the indexer chooses for a token.", 1, kMostWide))
          .key("index_entry", &C::index_entry,
               {.help = "What the indexer keeps of an entry.",
                .min = Bytes{1},
                .max = Bytes{1'000'000},
                .required = true});
  return keys;
}

const Component<Ffn>& ffn_component() {
  static const auto keys =
      Component<Ffn>("ffn", "Feed-forward part: gated, dense or a mixture of experts.")
          .key("dense", &Ffn::dense,
               {.help = "Width in dense layers; 0 where there are none.",
                .min = 0,
                .max = kMostWide,
                .source = "experts alone"})
          .key("dense_layers", &Ffn::dense_layers,
               {.help = "The first layers, dense where the others have experts.",
                .min = 0,
                .max = 10'000,
                .source = "experts from the first layer on"})
          .key("experts", &Ffn::experts,
               {.help = "Routed experts of a layer; 0: all layers are dense.",
                .min = 0,
                .max = 65'536,
                .source = "dense"})
          .key("top_k", &Ffn::top_k,
               {.help = "Routed experts that a token takes.",
                .min = 0,
                .max = 65'536,
                .source = "dense"})
          .key("shared_experts", &Ffn::shared_experts,
               {.help = "Experts that every token takes.", .min = 0, .max = 1024, .source = "none"})
          .key("expert", &Ffn::expert,
               {.help = "Width of one expert.", .min = 0, .max = kMostWide, .source = "dense"})
          .key("router_bias", &Ffn::router_bias,
               {.help = "Whether the router adds a bias for each expert.", .source = "none"});
  return keys;
}

const Component<ModelKeys>& model_component() {
  static const auto keys =
      Component<ModelKeys>("model", "A language model: its name and what all its layers share.")
          .key("name", &ModelKeys::name,
               {.help = "What the command line calls it.", .required = true})
          .key("layers", &ModelKeys::layers, size_key("Transformer layers.", 1, 10'000))
          .key("hidden", &ModelKeys::hidden,
               size_key("Numbers of a token between layers.", 1, kMostWide))
          .key("vocabulary", &ModelKeys::vocabulary,
               size_key("Tokens there are, padding included.", 1, 100'000'000))
          .key("max_context", &ModelKeys::max_context,
               {.help = "Tokens of the longest sequence it was made for.",
                .min = 1,
                .max = 1'000'000'000,
                .required = true})
          .key("tied_embeddings", &ModelKeys::tied_embeddings,
               {.help = "Whether the output shares the embedding's matrix.",
                .source = "larger models have two"})
          .key("hyper_connections", &ModelKeys::hyper_connections,
               {.help =
                    "Residual streams beside one another, mixed round every part of a layer; 0: "
                    "one, added to.",
                .min = 0,
                .max = 64,
                .source = "plain residual"})
          .key("weights", &ModelKeys::weights,
               {.help = "Number format of matrices as published, such as \"bf16\" or \"f8\".",
                .source = "most are published so"})
          .key("experts", &ModelKeys::experts,
               {.help = "Number format of routed experts; empty: as the others.",
                .source = "as the others"});
  return keys;
}

} // namespace umf::shapes
