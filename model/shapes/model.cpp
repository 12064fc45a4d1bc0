#include "model/shapes/model.h"

#include "model/shapes/model_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace umf::shapes {

namespace {

enum At : std::size_t { model_at, attention_at, ffn_at };

const JsonValue& section_of(const JsonValue& object, At at, const JsonValue& absent) {
  const JsonValue* given = object.find(model_sections()[at].name);
  return given != nullptr ? *given : absent;
}

/// The reader of each kind, in the order of the section's components.
Attention read_attention(const JsonValue& object, KeyContext& context) {
  const ComponentInfo* kind = read_kind(object, model_sections()[attention_at], context);
  if (kind == nullptr) return {};
  if (kind == &full_component().info()) return full_component().read(object, context);
  if (kind == &sliding_component().info()) return sliding_component().read(object, context);
  if (kind == &mla_component().info()) return mla_component().read(object, context);
  return compressed_component().read(object, context);
}

Format format_key(const std::string& text, std::string_view key, KeyContext& context) {
  try {
    return parse_format(text, "number format");
  } catch (const UserError& fault) {
    context.fault(context.place_of(fmt::format("/model/{}", key)), fault.what());
    return {};
  }
}

void check_heads(const FullAttention& a, const std::string& at, KeyContext& context) {
  if (a.kv_heads != 0 && a.heads % a.kv_heads != 0)
    context.fault(
        context.place_of(at + "/kv_heads"),
        fmt::format("{} KV heads do not divide {} heads, expected a divisor", a.kv_heads, a.heads));
}

void check_attention(const Model& model, KeyContext& context) {
  if (const auto* full = std::get_if<FullAttention>(&model.attention))
    check_heads(*full, "/attention", context);
  if (const auto* sliding = std::get_if<SlidingAttention>(&model.attention))
    check_heads(sliding->heads, "/attention/heads", context);
  if (const auto* c = std::get_if<CompressedAttention>(&model.attention)) {
    if (c->ratios.size() != model.layers)
      context.fault(context.place_of("/attention/ratios"),
                    fmt::format("{} ratios for {} layers, expected one a layer", c->ratios.size(),
                                model.layers));
    if (c->o_groups != 0 && c->heads % c->o_groups != 0)
      context.fault(context.place_of("/attention/o_groups"),
                    fmt::format("{} groups do not divide {} heads, expected a divisor", c->o_groups,
                                c->heads));
  }
}

void check_ffn(const Model& model, KeyContext& context) {
  const Ffn& f = model.ffn;
  const auto fault = [&](std::string_view key, const std::string& message) {
    context.fault(context.place_of(fmt::format("/ffn/{}", key)), message);
  };
  const bool has_dense = f.experts == 0 || f.dense_layers > 0;
  if (has_dense && f.dense == 0)
    fault("dense", "0 wide, and there are dense layers, expected more");
  if (f.experts == 0) {
    if (f.top_k != 0 || f.expert != 0 || f.shared_experts != 0 || f.dense_layers != 0)
      fault("experts", "0, and other keys speak of experts, expected how many there are");
    return;
  }
  if (f.top_k == 0 || f.top_k > f.experts)
    fault("top_k", fmt::format("{} of {} experts, expected 1..{}", f.top_k, f.experts, f.experts));
  if (f.expert == 0) fault("expert", "experts 0 wide, expected more");
  if (f.dense_layers > model.layers)
    fault("dense_layers",
          fmt::format("{} of {} layers, expected at most all", f.dense_layers, model.layers));
}

} // namespace

std::span<const Section> model_sections() {
  static const std::vector<Section> sections = {
      {"model",
       "A model file: what all its layers share.",
       Section::Shape::object,
       {&model_component().info()}},
      {"attention",
       "A model file: how its layers attend.",
       Section::Shape::kind_object,
       {&full_component().info(), &sliding_component().info(), &mla_component().info(),
        &compressed_component().info()}},
      {"ffn",
       "A model file: its feed-forward parts.",
       Section::Shape::object,
       {&ffn_component().info()}}};
  return sections;
}

std::uint32_t query_heads(const Model& model) {
  if (const auto* sliding = std::get_if<SlidingAttention>(&model.attention))
    return sliding->heads.heads;
  if (const auto* full = std::get_if<FullAttention>(&model.attention)) return full->heads;
  if (const auto* mla = std::get_if<MlaAttention>(&model.attention)) return mla->heads;
  return std::get<CompressedAttention>(model.attention).heads;
}

std::string_view attention_kind(const Model& model) {
  return kind_of(*model_sections()[attention_at].components[model.attention.index()]);
}

Model read_model(const JsonValue& object, KeyContext& context) {
  Model model;
  if (!object.is_object()) {
    context.fault(object.place(), fmt::format("found {}, expected an object", object.found()));
    return model;
  }
  report_unknown_sections(object, model_sections(), context);
  const JsonValue absent = JsonValue::empty_object(object.place());
  const ModelKeys keys = model_component().read(section_of(object, model_at, absent), context, "");
  model.attention = read_attention(section_of(object, attention_at, absent), context);
  model.ffn = ffn_component().read(section_of(object, ffn_at, absent), context, "");
  model.name = keys.name;
  model.layers = keys.layers;
  model.hidden = keys.hidden;
  model.vocabulary = keys.vocabulary;
  model.max_context = keys.max_context;
  model.tied_embeddings = keys.tied_embeddings;
  model.hyper_connections = keys.hyper_connections;
  model.weights = format_key(keys.weights, "weights", context);
  model.experts =
      keys.experts.empty() ? model.weights : format_key(keys.experts, "experts", context);
  if (context.faulty()) return model;
  check_attention(model, context);
  check_ffn(model, context);
  return model;
}

Model find_model(std::string_view name) {
  KeyContext context;
  if (name.ends_with(".json")) {
    Model model = read_model(read_json_file(std::filesystem::path(name)), context);
    context.throw_if_faulty();
    return model;
  }
  for (const EmbeddedModel& shipped : shipped_models()) {
    if (shipped.name != name) continue;
    const std::string file = fmt::format("model/shapes/data/{}.json", name);
    Model model = read_model(parse_json(shipped.text, file), context);
    context.throw_if_faulty();
    return model;
  }
  const auto names = shipped_model_names();
  throw UserError(fmt::format("unknown model {}, expected a file that ends in .json or one of {}{}",
                              in_quotes(name), fmt::join(names, ", "), near_hint(name, names)));
}

std::vector<std::string> shipped_model_names() {
  std::vector<std::string> names;
  for (const EmbeddedModel& shipped : shipped_models())
    names.emplace_back(shipped.name);
  return names;
}

} // namespace umf::shapes
