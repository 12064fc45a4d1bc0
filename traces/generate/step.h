#pragma once

#include "model/shapes/kv.h"
#include "model/shapes/matrices.h"
#include "model/stream/records.h"

#include <cstdint>
#include <span>
#include <vector>

/// From a model's shape to the kernels of one step over a batch. A step mixes what it likes:
/// chunks of prompts and single tokens (continuous batching).
namespace umf::traces::generate {

/// One sequence in a step.
struct Sequence {
  std::uint64_t past = 0;  ///< tokens that are in the KV cache
  std::uint64_t fresh = 1; ///< tokens computed in this step
  bool output = true;      ///< whether a token is sampled after its last one
  std::uint64_t id = 0;    ///< what routers know it by from step to step

  /// One token of a sequence that is under way.
  bool decodes() const { return fresh == 1 && past != 0; }
  std::uint64_t context() const { return past + fresh; }
};

/// Ids not given yet; shared by all that make records of one stream.
struct Numbers {
  stream::TensorId tensor = 0;
  stream::KernelId kernel = 0;
};

/// Entries of one part of a sequence's KV cache, oldest first.
struct Entries {
  std::uint64_t first = 0, count = 0;
};

/// Those the fresh tokens may see once they are appended: all, or what the oldest one's window
/// holds.
Entries visible(const shapes::KvPart& part, const Sequence& sequence);
/// Those that become whole with the fresh tokens.
Entries added(const shapes::KvPart& part, const Sequence& sequence);
/// How many, of the oldest, the token after the fresh ones will not see.
std::uint64_t out_of_sight(const shapes::KvPart& part, const Sequence& sequence);

/// A question to the KV cache: one layer's part for some sequences of a step.
struct KvAsk {
  std::uint32_t layer = 0;
  std::uint32_t part_index = 0; ///< in kv_parts(model, layer, tp)
  const shapes::KvPart& part;
  std::span<const Sequence> batch;
  std::span<const std::uint32_t> which; ///< places in `batch`
};

/// Where a KV cache lies, and what of it is read. Whoever runs batches supplies one: whole runs,
/// blocks, chosen pages.
class KvCache {
public:
  virtual ~KvCache() = default;
  /// Adds what attention reads, the fresh tokens' entries included. Returns the entries that
  /// decoding sequences attend to, all together (of prompts' chunks the caller counts pairs
  /// itself).
  virtual std::uint64_t read(const KvAsk& ask, std::vector<stream::Access>& accesses) = 0;
  /// Adds what is written for the fresh tokens.
  virtual void append(const KvAsk& ask, std::vector<stream::Access>& accesses) = 0;
  /// Adds frees of what no later token sees, where the cache gives it up.
  virtual void reclaim(const KvAsk&, std::vector<stream::Record>&) {}
};

/// Sends tokens to experts.
class Router {
public:
  virtual ~Router() = default;
  /// `loads` has an element an expert, 0 each: adds how many of the batch's fresh tokens each gets.
  /// Their sum is tokens × top_k.
  virtual void route(std::uint32_t layer, std::span<const Sequence> batch,
                     std::vector<std::uint32_t>& loads) = 0;
};

/// What is generated for.
struct StepOptions {
  shapes::Model model;
  shapes::WeightFormats weights;
  shapes::Format kv;
  std::uint32_t tp = 1;
  stream::Launch launch = stream::Launch::eager; ///< of decode steps; prompts are always eager
  stream::StreamId stream{};
  std::uint32_t lora_rank = 0,
                lora_adapters = 0; ///< of dense layers; a sequence uses id mod adapters
  std::uint32_t sms = 132;         ///< that grids are made to fill
  /// The most a step may hold; activations are sized by it.
  std::uint64_t max_tokens = 1;
  std::uint64_t max_sequences = 1;
  std::uint64_t max_context = 1; ///< of all prompts' chunks of a step together
  std::uint64_t seed = 1;
  /// Whether a cache frees the entries that leave a layer's window; else it writes over them.
  bool reclaim = false;
  /// Whether rows of the embedding are told one by one; else they lie together, which a replay of
  /// very many steps is faster with.
  bool gather_rows = true;
};

/// Bytes of a number of an activation: BF16.
inline constexpr std::uint64_t kActivation = 2;

} // namespace umf::traces::generate
