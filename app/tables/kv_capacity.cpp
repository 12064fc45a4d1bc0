#include "app/tables/memories.h"
#include "model/base/quantity.h"
#include "model/shapes/kv.h"
#include "model/shapes/totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

/// S3: how much of a KV cache each memory holds, by model, number format and batch.
namespace umf::app {

namespace {

/// One of each kind of KV cache: grouped heads, latents, grouped heads beside experts. On so many
/// GPUs that 80 GiB hold each one's share of the weights.
struct Subject {
  const char* model;
  std::uint32_t gpus;
};
constexpr Subject kSubjects[] = {{"llama-3-70b", 1}, {"deepseek-v2", 4}, {"mixtral-8x22b", 2}};
constexpr const char* kWeights = "f8";
constexpr const char* kFormats[] = {"bf16", "f8", "i4-z", "i4-g32-z"};
constexpr std::uint64_t kBatches[] = {1, 4, 16};

/// The most tokens a sequence for which `bytes_of` is not more than there is.
template <class BytesOf>
std::uint64_t most_tokens(std::uint64_t room, BytesOf bytes_of) {
  std::uint64_t held = 0, beyond = 1;
  constexpr std::uint64_t kEndless = 1ull << 40; // of windows
  while (beyond < kEndless && bytes_of(beyond) <= room)
    beyond *= 2;
  if (beyond == kEndless) return beyond;
  while (held + 1 < beyond) {
    const std::uint64_t middle = held + (beyond - held) / 2;
    (bytes_of(middle) <= room ? held : beyond) = middle;
  }
  return held;
}

/// Of a sequence, in whole pages: each part of each layer has its own.
std::uint64_t paged(const shapes::Model& model, std::uint64_t tokens, const shapes::Format& format,
                    std::uint32_t gpus, Bytes page) {
  std::uint64_t bytes = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer)
    for (const shapes::KvPart& part : shapes::kv_parts(model, layer, gpus)) {
      const std::uint64_t own = shapes::kv_bytes(part, tokens, format).count;
      bytes += (own + page.count - 1) / page.count * page.count;
    }
  return bytes;
}

Cell whole(std::uint64_t number) {
  return {std::to_string(number), {}};
}
Cell size(Bytes bytes) {
  return {std::to_string(bytes.count),
          fmt::format("{:.2f} GiB", static_cast<double>(bytes.count) / (1 << 30))};
}

Table kv_capacity(const TableOptions& options) {
  const hw::Scenario scenario = scenario_of(options);
  memories_of(scenario, options); // throws for a tier that is none
  Table table;
  table.title = fmt::format(
      "How much of a KV cache does each memory hold?\n"
      "Of one of so many GPUs, which share a model; HBM beside the weights ({}); nothing else is "
      "kept. metadata: scales and\nzero points. tokens: of each sequence of the batch, by bytes; "
      "in pages: in whole pages of {}, each part of each\nlayer of a sequence in its own.",
      kWeights, umf::print(scenario.scheduler.page));
  table.columns = {key("model", "model"),
                   figure("gpus", "GPUs", ""),
                   key("kv", "KV"),
                   {.name = "batch", .heading = "batch", .unit = "", .is_key = true},
                   key("tier", "tier"),
                   figure("weights_B", "weights", "B"),
                   figure("kv_B_per_token", "a token", "B"),
                   figure("metadata_share", "metadata", ""),
                   figure("room_B", "room", "B"),
                   figure("tokens", "tokens", ""),
                   figure("tokens_in_pages", "in pages", "")};
  const std::set<std::string> asked(options.tiers.begin(), options.tiers.end());
  for (const Subject& subject : kSubjects) {
    const shapes::Model model = shapes::find_model(subject.model);
    const Bytes weights{shapes::sum_of(
        shapes::weight_bytes(model, shapes::weight_formats(model, kWeights), subject.gpus))};
    for (const char* name : kFormats) {
      const shapes::Format format = shapes::parse_format(name, "KV format");
      shapes::Format bare = format;
      bare.group = 0;
      const Bytes token = shapes::kv_bytes_per_token(model, format, subject.gpus);
      const Bytes numbers = shapes::kv_bytes_per_token(model, bare, subject.gpus);
      const auto metadata = static_cast<double>((token - numbers).count);
      for (const std::uint64_t batch : kBatches)
        for (const auto& tier : scenario.tiers) {
          if (!asked.empty() && asked.count(tier->name) == 0) continue;
          const bool home = tier->tier_class() == policy::TierClass::hbm;
          const std::uint64_t taken = home ? std::min(weights, tier->capacity()).count : 0;
          const std::uint64_t room = tier->capacity().count - taken;
          const auto plain = [&](std::uint64_t tokens) {
            return shapes::kv_bytes(model, tokens, format, subject.gpus).count;
          };
          const auto in_pages = [&](std::uint64_t tokens) {
            return paged(model, tokens, format, subject.gpus, scenario.scheduler.page);
          };
          table.rows.push_back({cell(model.name), whole(subject.gpus), cell(name), whole(batch),
                                cell(tier->name), size(weights), whole(token.count),
                                share(metadata / static_cast<double>(token.count)), size({room}),
                                whole(most_tokens(room / batch, plain)),
                                whole(most_tokens(room / batch, in_pages))});
        }
    }
  }
  return table;
}

} // namespace

Suite kv_capacity_suite() {
  return {"kv-capacity", "how many tokens of KV cache each memory holds", kv_capacity};
}

} // namespace umf::app
