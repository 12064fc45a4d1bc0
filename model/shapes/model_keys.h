#pragma once

#include "model/shapes/model.h"

/// The keys of a model file, each declared once.
namespace umf::shapes {

/// What stands in the section "model".
struct ModelKeys {
  std::string name;
  std::uint32_t layers = 0, hidden = 0, vocabulary = 0;
  std::uint64_t max_context = 0;
  bool tied_embeddings = false;
  std::uint32_t hyper_connections = 0;
  std::string weights = "bf16";
  std::string experts;
};

const Component<ModelKeys>& model_component();
const Component<FullAttention>& full_component();
const Component<SlidingAttention>& sliding_component();
const Component<MlaAttention>& mla_component();
const Component<CompressedAttention>& compressed_component();
const Component<Ffn>& ffn_component();

} // namespace umf::shapes
