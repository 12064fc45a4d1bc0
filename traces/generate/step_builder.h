#pragma once

#include "traces/generate/adapters.h"
#include "traces/generate/kernel_writer.h"

#include <memory>
#include <span>
#include <vector>

namespace umf::traces::generate {

/// A step's batch, sorted into what decodes and what does not. Rows of activations: decoding
/// sequences first, then prompts' chunks.
struct StepBatch {
  std::span<const Sequence> batch;
  std::vector<std::uint32_t> decodes, prompts; ///< places in `batch`
  std::uint64_t tokens = 0, prompt_tokens = 0, prompt_context = 0, outputs = 0;

  std::uint64_t decode_tokens() const { return decodes.size(); }
  void sort(std::span<const Sequence> sequences);
};

/// Pairs of a fresh token of a prompt's chunk and an entry of the part that it sees.
double prompt_pairs(const shapes::KvPart& part, const StepBatch& step);

/// Makes the kernels of steps: embedding, each layer, final norm, output, sampling. All that
/// depends on the model alone is worked out once; a step allocates what its records need.
class StepBuilder {
public:
  /// Throws UserError where `tp` does not divide the model.
  StepBuilder(StepOptions options, Numbers& numbers);

  const StepOptions& options() const { return options_; }
  const Weights& weights() const { return weights_; }
  const std::vector<shapes::KvPart>& parts(std::uint32_t layer) const { return parts_[layer]; }

  /// Tensors of weights and activations, before the first step.
  void declare(std::vector<stream::Record>& records) const;

  /// Appends the kernels of one step. Tokens, sequences and prompts' context stay within the
  /// options'. With `layers` only those, in that order, between what is before and behind them.
  void step(std::span<const Sequence> batch, KvCache& kv, Router& router,
            std::vector<stream::Record>& records);
  void step(std::span<const Sequence> batch, KvCache& kv, Router& router,
            std::vector<stream::Record>& records, std::span<const std::uint32_t> layers);

private:
  struct Out {
    KernelWriter write;
    KvCache& kv;
    Router& router;
    std::uint32_t layer = 0;
  };

  /// All tokens × the layer's matrix, and its adapters beside it.
  void project(Out& out, shapes::Slot slot, const Rows& in, const Rows& result);
  void before(Out& out);
  void layer(Out& out);
  void after(Out& out);
  void input_norm(Out& out, bool first);
  void all_reduce(Out& out, Buffer buffer);

  void attend(Out& out, const shapes::FullAttention& attention);
  void attend(Out& out, const shapes::MlaAttention& attention);
  void attend(Out& out, const shapes::CompressedAttention& attention);
  void absorbed(Out& out, const shapes::MlaAttention& attention);
  void expanded(Out& out, const shapes::MlaAttention& attention);
  void compress(Out& out, const shapes::CompressedAttention& attention);
  void choose_entries(Out& out, const shapes::CompressedAttention& attention);
  /// Reads of some parts for decoding sequences or prompts; gives the entries that those that
  /// decode meet in the first of them.
  std::uint64_t read_kv(Out& out, const std::vector<std::uint32_t>& which, std::uint32_t part);
  void append_kv(Out& out, std::uint32_t part);
  void reclaim_kv(Out& out, std::uint32_t part);
  /// Split over keys, then joined: `heads` heads whose output is `dim` numbers.
  struct Decoding {
    std::uint64_t kv_heads, heads, dim;
    Rows queries, results;
    double flops_per_entry;
    const Weight* sink = nullptr;
  };
  void decode_attention(Out& out, const Decoding& decoding,
                        std::initializer_list<std::uint32_t> parts);

  /// Launch shape and arithmetic of the kernel last started.
  void prompt_attention(Out& out, std::uint64_t heads, double flops);
  /// Products with a narrower cache are made in BF16, but for FP8.
  stream::DType attention_dtype() const {
    return options_.kv.dtype == stream::DType::f8 ? stream::DType::f8 : stream::DType::bf16;
  }

  void feed_forward(Out& out);
  void experts(Out& out);
  void gated(Out& out, shapes::Slot up, shapes::Slot down);

  Rows rows(Buffer buffer, std::uint64_t numbers, std::uint64_t skip = 0) const {
    return {buffer, numbers * kActivation, skip * numbers * kActivation};
  }
  const LayerWeights& of(const Out& out) const { return weights_.layer(out.layer); }

  StepOptions options_;
  Weights weights_;
  Adapters adapters_;
  Workspace workspace_;
  Numbers& numbers_;
  std::vector<std::vector<shapes::KvPart>> parts_;
  std::vector<std::uint32_t> all_layers_;
  StepBatch step_;
  std::vector<std::uint32_t> adapters_used_;
  std::vector<std::uint32_t> loads_;
  std::uint64_t rows_drawn_ = 0; ///< of the embedding
};

} // namespace umf::traces::generate
