#include "traces/generate/generator.h"

#include "traces/generate/page_kv.h"
#include "traces/generate/routers.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::traces::generate {

namespace {

// A step's records are held in memory: an id a token, a tensor a sequence and layer.
constexpr std::uint64_t kMostBatch = 16'384, kMostSteps = 1'000'000;
constexpr std::uint64_t kMostContext = 1u << 30, kMostTokens = 1u << 24;

void in_range(const char* what, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value < least || value > most)
    throw UserError(fmt::format("{}: {}, expected {}..{}", what, value, least, most));
}

/// What a step may hold, and the steps there are.
GenerateOptions checked(GenerateOptions options) {
  const bool decode = options.phase == stream::Phase::decode;
  const shapes::Model& model = options.step.model;
  in_range("--context", options.context, 1, kMostContext);
  in_range("--batch", options.batch, 1, kMostBatch);
  in_range("--steps", options.steps, decode ? 1 : 0, kMostSteps);
  if (decode && options.chunk != 0)
    throw UserError("--chunk: only prompts come in chunks, expected --phase prefill");
  in_range("--lora-adapters", options.step.lora_adapters, 0, 4096);
  if (options.step.lora_rank != 0 && options.step.lora_adapters == 0)
    throw UserError("--lora-rank: there are no adapters, expected --lora-adapters");
  in_range("--chunk", options.chunk, 0, options.context);
  if (options.step.reclaim && !std::holds_alternative<shapes::SlidingAttention>(model.attention))
    throw UserError(fmt::format("--reclaim: {} has no sliding window, expected a model with "
                                "attention sliding-window",
                                model.name));
  const std::uint64_t longest = options.context + (decode ? options.steps : 0);
  if (longest > model.max_context && !options.beyond_context)
    throw UserError(fmt::format("{}: {} tokens, expected at most the {} it was made for "
                                "(--beyond-context lifts this)",
                                model.name, longest, model.max_context));
  if (options.chunk == 0) options.chunk = options.context;
  const std::uint64_t chunks = (options.context + options.chunk - 1) / options.chunk;
  if (!decode) options.steps = options.steps == 0 ? chunks : std::min(options.steps, chunks);
  options.step.max_tokens = options.batch * (decode ? 1 : options.chunk);
  options.step.max_sequences = options.batch;
  options.step.max_context = decode ? 0 : options.batch * options.context;
  in_range("tokens of a step (batch x chunk)", options.step.max_tokens, 1, kMostTokens);
  return options;
}

} // namespace

struct Generator::State {
  GenerateOptions options;
  Numbers numbers;
  StepBuilder builder;
  PageKv kv;
  ChoosingRouter router;
  std::vector<Sequence> batch;
  std::uint64_t step = 0;

  explicit State(GenerateOptions given)
      : options(checked(std::move(given))), builder(options.step, numbers),
        kv(options.step, options.batch, longest(),
           access::make_pages(options.access, options.sets, options.step.seed), numbers),
        router(access::make_experts(options.routing, options.sets, experts(), options.step.seed)),
        batch(options.batch) {}

  access::Experts experts() const {
    const shapes::Model& model = options.step.model;
    return {model.ffn.experts, model.ffn.top_k, model.layers};
  }
  bool decodes() const { return options.phase == stream::Phase::decode; }
  std::uint64_t longest() const { return options.context + (decodes() ? options.steps : 0); }
  Sequence sequence() const {
    if (decodes()) return {options.context + step, 1, true};
    const std::uint64_t past = step * options.chunk;
    const std::uint64_t fresh = std::min(options.chunk, options.context - past);
    return {past, fresh, past + fresh == options.context};
  }
};

Generator::Generator(GenerateOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;

std::uint64_t Generator::steps() const {
  return state_->options.steps;
}

const StepBuilder& Generator::builder() const {
  return state_->builder;
}

void Generator::declare(std::vector<stream::Record>& records) const {
  state_->builder.declare(records);
  state_->kv.declare(records);
}

bool Generator::next(std::vector<stream::Record>& records) {
  State& s = *state_;
  if (s.step == s.options.steps) return false;
  records.emplace_back(stream::Mark{0, fmt::format("step {}", s.step)});
  std::fill(s.batch.begin(), s.batch.end(), s.sequence());
  for (std::uint64_t i = 0; i < s.batch.size(); ++i)
    s.batch[i].id = i;
  s.builder.step(s.batch, s.kv, s.router, records);
  ++s.step;
  return true;
}

} // namespace umf::traces::generate
