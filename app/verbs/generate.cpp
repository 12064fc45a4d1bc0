#include "app/verbs/verbs.h"

#include "app/report/heat_map.h"
#include "app/run/trace_source.h"
#include "model/shapes/totals.h"
#include "traces/access/access.h"
#include "traces/generate/generator.h"
#include "traces/registry.h"
#include "traces/whole_file.h"

#include <fmt/format.h>

#include <memory>

/// A kernel stream from the shape of a model.
namespace umf::app {

namespace {

namespace gen = traces::generate;

struct Options {
  std::string model, phase = "decode", kv = "bf16", weights, experts, launch = "eager", out,
                     picture;
  gen::GenerateOptions generate;
};

/// One line a shipped model.
std::string list_of_models() {
  std::string text = fmt::format("{:<18} {:<10} {:>10} {:>9} {:>12} {:>11}\n", "model", "attention",
                                 "parameters", "active", "KV B/token", "max context");
  for (const std::string& name : shapes::shipped_model_names()) {
    const shapes::Model model = shapes::find_model(name);
    text += fmt::format("{:<18} {:<10} {:>9.1f}B {:>8.1f}B {:>12} {:>11}\n", name,
                        shapes::attention_kind(model),
                        static_cast<double>(shapes::sum_of(shapes::parameters(model))) / 1e9,
                        static_cast<double>(shapes::active_parameters(model)) / 1e9,
                        shapes::kv_bytes_per_token(model, {}).count, model.max_context);
  }
  return text + "KV in bf16; of windows and compressed entries the mean over the longest context\n";
}

gen::GenerateOptions read(const Options& options) {
  gen::GenerateOptions read = options.generate;
  read.step.model = shapes::find_model(options.model);
  read.step.weights = shapes::weight_formats(read.step.model, options.weights, options.experts);
  read.step.kv = shapes::parse_format(options.kv, "--kv-dtype");
  read.step.launch = *stream::value_of<stream::Launch>(options.launch);
  read.phase = *stream::value_of<stream::Phase>(options.phase);
  return read;
}

/// Records written; those of a step are held at a time.
std::uint64_t write(gen::Generator& generator, stream::Sink& sink, HeatMap* picture) {
  std::vector<stream::Record> records;
  std::uint64_t kernels = 0;
  const auto flush = [&] {
    for (const stream::Record& record : records) {
      sink.write(record);
      if (picture != nullptr) picture->add(record);
      kernels += std::holds_alternative<stream::Kernel>(record) ? 1 : 0;
    }
    records.clear();
    if (stop_asked()) throw Interrupted{};
  };
  generator.declare(records);
  flush();
  while (generator.next(records))
    flush();
  sink.finish();
  return kernels;
}

Exit generate(const Options& options) {
  if (options.model == "list") {
    print(list_of_models());
    return Exit::ok;
  }
  if (options.out.empty()) throw UserError("--out is required");
  gen::Generator generator(read(options));
  const gen::StepOptions& step = generator.builder().options();
  stream::Header header;
  header.format = "generated";
  header.source = command_line();
  header.provenance = fmt::format("umfsim generate: {}, seed {}", step.model.name, step.seed);
  header.devices.push_back({});
  header.devices.back().sms = step.sms;
  const auto sink = traces::create_trace(options.out, header);
  HeatMap picture(generator.steps(), step.model.layers / 2, step.model.ffn.experts);
  const std::uint64_t kernels =
      write(generator, *sink, options.picture.empty() ? nullptr : &picture);
  if (!options.picture.empty()) {
    traces::WholeFile file(options.picture);
    file.write(picture.svg());
    file.finish();
  }
  print(fmt::format("{}: {} steps, {} kernels, {:.3f} GB of weights\n", options.out,
                    generator.steps(), kernels,
                    static_cast<double>(generator.builder().weights().bytes().count) / 1e9));
  return Exit::ok;
}

void add_numbers(CLI::App& verb, gen::GenerateOptions& options) {
  verb.add_option("--context", options.context,
                  "Tokens of each prompt (prefill), or of each sequence before the first step");
  verb.add_option("--batch", options.batch, "Sequences")->capture_default_str();
  verb.add_option(
      "--steps", options.steps,
      "Decode: tokens of each sequence, one a step (default 1). Prefill: at most so many "
      "chunks (default all)");
  verb.add_option("--chunk", options.chunk, "Prefill: tokens of each prompt a step (default all)");
  verb.add_option("--tp", options.step.tp,
                  "GPUs that share the model (tensor parallel); the stream is that of one")
      ->capture_default_str();
  verb.add_option("--lora-rank", options.step.lora_rank, "Rank of LoRA adapters")
      ->check(CLI::Range(1, 65'536))
      ->default_str("16");
  verb.add_option("--lora-adapters", options.step.lora_adapters,
                  "LoRA adapters of dense layers that sequences take in turn")
      ->capture_default_str();
  verb.add_option("--sms", options.step.sms, "SMs that grids are made to fill")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb.add_option("--seed", options.step.seed, "Of tokens, experts and chosen entries")
      ->capture_default_str();
  verb.add_flag("--reclaim", options.step.reclaim,
                "Free the keys and values of tokens that leave a sliding window (default: their "
                "place is written over)");
  verb.add_flag("--beyond-context", options.beyond_context,
                "Let sequences be longer than the model was made for");
}

} // namespace

Action add_generate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("generate", "Kernel stream of an LLM phase from its shape");
  verb->add_option("--model", options->model,
                   "Name of a shipped model, a model file (.json), or list")
      ->required();
  verb->add_option("--phase", options->phase, "What the kernels do")
      ->check(CLI::IsMember({"prefill", "decode"}))
      ->capture_default_str();
  add_numbers(*verb, options->generate);
  verb->add_option("--kv-dtype", options->kv,
                   "Number format of the KV cache: bf16, f16, f8, i8, i4, i3, i2; -gN for groups "
                   "that share a scale, -z for zero points, such as i4-g32-z")
      ->capture_default_str();
  verb->add_option("--weight-dtype", options->weights,
                   "Number format of matrices, written alike (default: as published)");
  verb->add_option("--expert-dtype", options->experts,
                   "Number format of routed experts (default: as --weight-dtype)");
  verb->add_option("--launch", options->launch, "How kernels of decode steps reach the device")
      ->check(CLI::IsMember({"eager", "graph", "programmatic"}))
      ->capture_default_str();
  verb->add_option(
          "--access", options->generate.access,
          "Which pages of its context a decoding token reads (umfsim describe access.NAME)")
      ->check(CLI::IsMember(traces::access::access_names()))
      ->capture_default_str();
  verb->add_option("--routing", options->generate.routing,
                   "Which experts tokens take (umfsim describe routing.NAME)")
      ->check(CLI::IsMember(traces::access::routing_names()))
      ->capture_default_str();
  verb->add_option("--set", options->generate.sets,
                   "Key of either, such as access.budget=1024; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option(
      "--picture", options->picture,
      "Also what steps read in the middle layer: KV cache of the first sequence, experts (.svg)");
  verb->add_option("--out", options->out, "File to write: .umft, or .jsonl for people");
  return [options] {
    gen::StepOptions& step = options->generate.step;
    if (step.lora_rank == 0 && step.lora_adapters != 0) step.lora_rank = 16;
    if (options->generate.steps == 0 && options->phase == "decode") options->generate.steps = 1;
    return generate(*options);
  };
}

} // namespace umf::app
