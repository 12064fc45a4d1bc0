#include "traces/generate/step_builder.h"

#include "model/base/random.h"

#include <algorithm>
#include <numeric>

namespace umf::traces::generate {

using shapes::Slot;
using stream::Kernel;

void StepBatch::sort(std::span<const Sequence> sequences) {
  batch = sequences;
  decodes.clear();
  prompts.clear();
  tokens = prompt_tokens = prompt_context = outputs = 0;
  for (std::uint32_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    tokens += sequence.fresh;
    outputs += sequence.output ? 1 : 0;
    if (sequence.decodes()) {
      decodes.push_back(i);
    } else if (sequence.fresh != 0) {
      prompts.push_back(i);
      prompt_tokens += sequence.fresh;
      prompt_context += sequence.context();
    }
  }
}

namespace {

/// Entries seen by tokens 1..n, together: token i sees i / each of them, at most `most`.
double seen_by(std::uint64_t n, std::uint64_t each, std::uint64_t most) {
  const auto sum = [each](std::uint64_t last) { // of i / each, whole, over 1..last
    const std::uint64_t q = last / each;
    return static_cast<double>(each) * static_cast<double>(q) * (static_cast<double>(q) - 1) / 2 +
           static_cast<double>(q) * static_cast<double>(last - q * each + 1);
  };
  if (most == 0 || n < most * each) return sum(n);
  return sum(most * each - 1) +
         static_cast<double>(most) * static_cast<double>(n - most * each + 1);
}

} // namespace

double prompt_pairs(const shapes::KvPart& part, const StepBatch& step) {
  const std::uint64_t most = part.window != 0 ? part.window : part.top_k;
  double pairs = 0;
  for (const std::uint32_t i : step.prompts) {
    const Sequence& sequence = step.batch[i];
    pairs += seen_by(sequence.context(), part.tokens_per_entry, most) -
             seen_by(sequence.past, part.tokens_per_entry, most);
  }
  return pairs;
}

namespace {

StepOptions checked(StepOptions options) {
  shapes::check_parallel(options.model, options.tp);
  return options;
}

} // namespace

StepBuilder::StepBuilder(StepOptions options, Numbers& numbers)
    : options_(checked(std::move(options))), weights_(options_, numbers),
      adapters_(options_, weights_, numbers), workspace_(options_, numbers), numbers_(numbers) {
  for (std::uint32_t layer = 0; layer < options_.model.layers; ++layer)
    parts_.push_back(shapes::kv_parts(options_.model, layer, options_.tp));
  all_layers_.resize(options_.model.layers);
  std::iota(all_layers_.begin(), all_layers_.end(), 0U);
}

void StepBuilder::declare(std::vector<stream::Record>& records) const {
  weights_.declare(records);
  adapters_.declare(records);
  workspace_.declare(records);
}

void StepBuilder::step(std::span<const Sequence> batch, KvCache& kv, Router& router,
                       std::vector<stream::Record>& records) {
  step(batch, kv, router, records, all_layers_);
}

void StepBuilder::step(std::span<const Sequence> batch, KvCache& kv, Router& router,
                       std::vector<stream::Record>& records,
                       std::span<const std::uint32_t> layers) {
  step_.sort(batch);
  if (step_.tokens == 0) return;
  ensure(step_.tokens <= options_.max_tokens && batch.size() <= options_.max_sequences &&
             step_.prompt_context <= options_.max_context,
         "a step is larger than its activations were made for");
  adapters_.used_by(batch, adapters_used_);
  Out out{{options_, workspace_, numbers_, records}, kv, router, 0};
  const stream::Phase phase =
      step_.prompts.empty() ? stream::Phase::decode : stream::Phase::prefill;
  out.write.set(phase, -1);
  before(out);
  for (const std::uint32_t index : layers) {
    out.layer = index;
    out.write.set(phase, static_cast<std::int32_t>(index));
    layer(out);
  }
  out.write.set(phase, -1);
  after(out);
}

void StepBuilder::project(Out& out, Slot slot, const Rows& in, const Rows& result) {
  const Weight& weight = of(out)[slot];
  out.write.product(shapes::name_of(slot), weight, step_.tokens, in, result);
  if (slot == Slot::qkv) out.write.read(of(out)[Slot::qkv_bias]);
  const Adapters::Pair& pair = adapters_.of(out.layer, slot);
  if (pair.rank == 0) return;
  const Rows low{Buffer::scratch, pair.rank * 4, 0}; // in 32 bits
  Kernel& down = out.write.start("lora_shrink", adapters_used_.size() + 2);
  for (const std::uint32_t adapter : adapters_used_)
    out.write.read(pair.first + adapter, pair.down);
  out.write.read(in, step_.tokens);
  out.write.write(low, step_.tokens);
  const double flops = 2.0 * static_cast<double>(step_.tokens * pair.rank);
  down.flops = flops * static_cast<double>(weight.in);
  down.flops_dtype = stream::DType::bf16;
  out.write.shape_product(down, step_.tokens, pair.rank, weight.in);
  Kernel& up = out.write.start("lora_expand", adapters_used_.size() + 3);
  for (const std::uint32_t adapter : adapters_used_)
    out.write.read(pair.first + adapter, pair.up, pair.down.count);
  out.write.read(low, step_.tokens);
  out.write.read(result, step_.tokens);
  out.write.write(result, step_.tokens);
  up.flops = flops * static_cast<double>(weight.out);
  up.flops_dtype = stream::DType::bf16;
  out.write.shape_product(up, step_.tokens, weight.out, pair.rank);
}

/// Rows of the embedding, at random, or as many neighbours from a random place on; with the
/// vocabulary split, those that are on this GPU.
void StepBuilder::before(Out& out) {
  const Weight& table = weights_.around()[Slot::embedding];
  const std::uint64_t row = table.in * kActivation;
  const std::uint64_t found = (step_.tokens + options_.tp - 1) / options_.tp;
  const std::uint64_t streams = std::max(options_.model.hyper_connections, 1u);
  Kernel& kernel = out.write.start("embedding", 3);
  out.write.read({Buffer::tokens, 4}, step_.tokens);
  stream::Access& gather = kernel.accesses.emplace_back();
  gather.tensor = table.tensor;
  gather.rule = stream::Rule::generated;
  const RandomStream random(options_.seed, "generate.tokens");
  if (options_.gather_rows) {
    gather.pattern = stream::Pattern::gather;
    gather.length = {table.bytes};
    gather.block_bytes = {row};
    gather.indices.reserve(found);
    for (std::uint64_t i = 0; i < found; ++i)
      gather.indices.push_back(random.at(rows_drawn_++) % table.out);
  } else {
    const std::uint64_t count = std::min(found, table.out);
    gather.offset = random.at(rows_drawn_++) % (table.out - count + 1) * row;
    gather.length = {count * row};
  }
  out.write.write(rows(Buffer::residual, options_.model.hidden * streams), step_.tokens);
  out.write.shape_rows(kernel, step_.tokens, row);
  all_reduce(out, Buffer::residual);
}

/// What this device's memory sees of it: the message, read and written.
void StepBuilder::all_reduce(Out& out, Buffer buffer) {
  if (options_.tp == 1) return;
  Kernel& kernel = out.write.start("all_reduce", 2);
  const Rows message = rows(buffer, options_.model.hidden);
  out.write.read(message, step_.tokens);
  out.write.write(message, step_.tokens);
  out.write.shape_pointwise(kernel, message.width * step_.tokens);
}

/// With the addition to the residual before it, but for the first.
void StepBuilder::input_norm(Out& out, bool first) {
  const shapes::Model& model = options_.model;
  const std::uint64_t streams = std::max(model.hyper_connections, 1u);
  const Rows residual = rows(Buffer::residual, model.hidden * streams);
  Kernel& kernel = out.write.start(first ? "rms_norm" : "add_rms_norm", 6);
  out.write.read(residual, step_.tokens);
  if (!first) {
    out.write.read(rows(Buffer::d, model.hidden), step_.tokens);
    out.write.write(residual, step_.tokens);
  }
  out.write.write(rows(Buffer::a, model.hidden), step_.tokens);
  out.write.shape_rows(kernel, step_.tokens, model.hidden * kActivation);
}

void StepBuilder::layer(Out& out) {
  const LayerWeights& weights = of(out);
  input_norm(out, out.layer == 0);
  out.write.read(weights[Slot::input_norm]);
  out.write.read(weights[Slot::residual_attention]);
  std::visit(
      [&](const auto& attention) {
        using Kind = std::decay_t<decltype(attention)>;
        if constexpr (std::is_same_v<Kind, shapes::SlidingAttention>)
          attend(out, attention.heads);
        else
          attend(out, attention);
      },
      options_.model.attention);
  all_reduce(out, Buffer::d);
  input_norm(out, false);
  out.write.read(weights[Slot::post_norm]);
  out.write.read(weights[Slot::residual_ffn]);
  feed_forward(out);
  all_reduce(out, Buffer::d);
}

void StepBuilder::after(Out& out) {
  const shapes::Model& model = options_.model;
  const Weight& head = weights_.head();
  input_norm(out, false);
  out.write.read(weights_.around()[Slot::final_norm]);
  out.write.read(weights_.around()[Slot::residual_head]);
  if (step_.outputs == 0) return;
  const Rows logits = rows(Buffer::logits, head.out);
  out.write.product("lm_head", head, step_.outputs, rows(Buffer::a, model.hidden), logits);
  Rows all = logits;
  if (options_.tp > 1) {
    all = rows(Buffer::logits, model.vocabulary);
    Kernel& gather = out.write.start("all_gather", 2);
    out.write.read(logits, step_.outputs);
    out.write.write(all, step_.outputs);
    out.write.shape_pointwise(gather, all.width * step_.outputs);
  }
  Kernel& kernel = out.write.start("sample", 2);
  out.write.read(all, step_.outputs);
  out.write.write({Buffer::tokens, 4}, step_.outputs);
  out.write.shape_rows(kernel, step_.outputs, all.width);
}

} // namespace umf::traces::generate
