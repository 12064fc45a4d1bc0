#include "app/serve/serve_report.h"

#include "app/report/figures.h"
#include "app/report/files.h"
#include "app/report/json_text.h"
#include "app/report/quantities.h"
#include "app/serve/tenants.h"
#include "app/version.h"
#include "traces/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace umf::app {

using Json = nlohmann::ordered_json;

namespace {

Json spread_json(const serving::Spread& spread) {
  return {{"mean", spread.mean},
          {"p50", spread.p50},
          {"p95", spread.p95},
          {"p99", spread.p99},
          {"max", spread.max}};
}

double rate(std::uint64_t count, const ServeRun& run) {
  return run.seconds() > 0 ? static_cast<double>(count) / run.seconds() : 0.0;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

Json latency_json(const serving::Latency& latency, const ServeRun& run) {
  return {{"requests", latency.requests},
          {"output_tokens", latency.output_tokens},
          {"ttft_ms", spread_json(latency.ttft_ms)},
          {"tpot_ms", spread_json(latency.tpot_ms)},
          {"end_to_end_ms", spread_json(latency.end_to_end_ms)},
          {"goodput",
           {{"requests", latency.kept},
            {"share", share(latency.kept, latency.requests)},
            {"requests_per_s", rate(latency.kept, run)},
            {"output_tokens_per_s", rate(latency.kept_tokens, run)}}}};
}

namespace {

Json classes_json(const ServeRun& run) {
  Json classes = Json::array();
  const auto promised = run.config.service_classes();
  for (std::size_t c = 0; c < promised.size(); ++c) {
    Json one = {{"name", promised[c].name},
                {"share", promised[c].share},
                {"ttft_limit_ms", promised[c].ttft.nanoseconds() / 1e6},
                {"tpot_limit_ms", promised[c].tpot.nanoseconds() / 1e6}};
    one.update(latency_json(serving::latency_of(run.outcomes, promised, static_cast<int>(c)), run));
    classes.push_back(std::move(one));
  }
  return classes;
}

Json oddities_json(const ServeRun& run) {
  Json oddities = Json::array();
  for (const auto& odd : run.oddities)
    oddities.push_back({{"code", odd.code}, {"sentence", odd.sentence}, {"count", odd.count}});
  return oddities;
}

Json fold_json(const ServeRun& run, const std::optional<FoldingError>& error) {
  Json fold = {{"iterations", run.fold.iterations_stood_for},
               {"iterations_simulated", run.fold.iterations},
               {"layers", run.fold.layers_stood_for},
               {"layers_simulated", run.fold.layers},
               {"kernels_simulated", run.fold.kernels},
               {"alike",
                {{"folded", run.alike.folded},
                 {"checked", run.alike.checked},
                 {"error", run.alike.error()},
                 {"worst", run.alike.worst}}}};
  if (error)
    fold["error"] = {{"requests", error->requests},
                     {"worst", error->worst},
                     {"worst_at", error->worst_at},
                     {"folded", error->folded},
                     {"unfolded", error->unfolded}};
  return fold;
}

} // namespace

Json latencies_json(const ServeRun& run) {
  const auto latency = serving::latency_of(run.outcomes, run.config.service_classes());
  return {{"ttft_ms", spread_json(latency.ttft_ms)}, {"tpot_ms", spread_json(latency.tpot_ms)}};
}

FoldingError compare_folding(std::uint64_t requests, Json folded, Json unfolded) {
  FoldingError error;
  error.requests = requests;
  for (const char* what : {"ttft_ms", "tpot_ms"})
    for (const char* at : {"mean", "p50", "p95", "p99"}) {
      const double truth = unfolded.at(what).at(at), guess = folded.at(what).at(at);
      const double off = truth == 0 ? 0.0 : guess / truth - 1;
      if (std::abs(off) < std::abs(error.worst)) continue;
      error.worst = off;
      error.worst_at = fmt::format("{} {}", what == std::string("ttft_ms") ? "TTFT" : "TPOT", at);
    }
  error.folded = std::move(folded);
  error.unfolded = std::move(unfolded);
  return error;
}

Json serving_json(const ServeRun& run, const std::optional<FoldingError>& error) {
  const Json machine = summary_json(run.machine);
  const auto all = serving::latency_of(run.outcomes, run.config.service_classes());
  const serving::BatchCounters& c = run.counters;
  Json summary = {
      {"version", kVersion},
      {"scenario", machine.at("scenario")},
      {"serving",
       {{"hash", fmt::format("{:016x}", run.machine.platform->scenario().serving_hash)}}},
      {"seed", machine.at("seed")},
      {"resolution", "burst"},
      {"policy", machine.at("policy")},
      {"model",
       {{"name", run.model},
        {"weight_dtype", run.weight_format},
        {"kv_dtype", run.kv_format},
        {"tp", run.tp}}},
      {"requests",
       {{"source", run.source},
        {"arrived", c.arrived},
        {"done", c.done},
        {"too_long", c.too_long},
        {"preemptions", c.preemptions},
        {"oddities", oddities_json(run)}}},
      {"time", {{"simulated_ns", run.end_ns - run.first_arrival_ns}}},
      {"throughput",
       {{"requests_per_s", rate(c.done, run)},
        {"output_tokens_per_s", rate(all.output_tokens, run)},
        {"computed_tokens_per_s", rate(c.computed_tokens, run)}}},
      {"latency", latency_json(all, run)},
      {"classes", classes_json(run)},
      {"tokens",
       {{"prompt", c.prompt_tokens},
        {"cached", c.cached_tokens},
        {"prefix_hit_rate", share(c.cached_tokens, c.prompt_tokens)},
        {"computed", c.computed_tokens},
        {"recomputed", c.recomputed_tokens}}},
      {"kv_cache",
       {{"block_tokens", run.config.block},
        {"block_bytes", run.room.block.count},
        {"blocks", run.room.blocks},
        {"peak_held_blocks", run.peak_held_blocks},
        {"evicted_blocks", run.evicted_blocks},
        {"weight_bytes", run.room.weights.count},
        {"activation_bytes", run.room.workspace.count},
        {"usable_hbm_bytes", run.room.hbm.count},
        {"usable_pool_bytes", run.room.pool.count}}},
      {"fold", fold_json(run, error)}};
  if (!run.tenants.empty()) {
    const TenantsOutcome outcome = outcome_of_tenants(run);
    summary["tenants"] = tenants_json(run, outcome);
    summary["fairness"] = fairness_json(outcome);
  }
  summary["utilisation"] = utilisation_json(run.utilisation);
  Json simulated = {{"simulated_ns", machine.at("time").at("simulated_ns")}};
  for (const char* part : {"time_by_cause", "tiers", "l2", "links", "scheduler", "energy"})
    simulated[part] = machine.at(part);
  summary["machine"] = std::move(simulated);
  summary["ledger"] = machine.at("ledger");
  return summary;
}

namespace {

std::string row(const char* name, const serving::Spread& spread) {
  const auto cell = [](double ms) { return fmt::format("{:>11}", duration(ms / 1e3)); };
  return fmt::format("{:<14} mean {} p50 {} p95 {} p99 {} max {}\n", name, cell(spread.mean),
                     cell(spread.p50), cell(spread.p95), cell(spread.p99), cell(spread.max));
}

std::string machine_text(const ServeRun& run) {
  std::uint64_t all = 0;
  for (const auto& tier : run.machine.platform->tiers())
    all += tier.module->statistics().read_bytes;
  std::string text = "read from      ";
  const char* between = "";
  for (const auto& tier : run.machine.platform->tiers()) {
    const std::uint64_t bytes = tier.module->statistics().read_bytes;
    if (bytes == 0) continue;
    text += fmt::format("{}{} {:.1f} %", between, tier.name, 100 * share(bytes, all));
    between = ", ";
  }
  const auto& brain = run.machine.platform->brain(0).counters();
  return text + fmt::format("; {} pages of faults, {} moved (of what was simulated)\n",
                            brain.faults, decimal_bytes(brain.moved.count));
}

std::string fold_text(const ServeRun& run, const std::optional<FoldingError>& error) {
  std::string text =
      fmt::format("folded         {} iterations by {}, {} layers by {}, {} kernels simulated\n",
                  run.fold.iterations_stood_for, run.fold.iterations, run.fold.layers_stood_for,
                  run.fold.layers, run.fold.kernels);
  if (run.alike.folded > 0)
    text += fmt::format(
        "alike          {} plans took the time of a simulated one with like work; of "
        "{} simulated all the same it is off by {:+.2f} % in sum, {:+.2f} % at worst\n",
        run.alike.folded, run.alike.checked, 100 * run.alike.error(), 100 * run.alike.worst);
  if (error)
    text +=
        fmt::format("folding error  {:+.2f} % at most ({}), of the first {} requests unfolded\n",
                    100 * error->worst, error->worst_at, error->requests);
  return text;
}

} // namespace

std::string serving_text(const ServeRun& run, const std::optional<FoldingError>& error) {
  const auto promised = run.config.service_classes();
  const auto all = serving::latency_of(run.outcomes, promised);
  const serving::BatchCounters& c = run.counters;
  const hw::Scenario& scenario = run.machine.platform->scenario();
  std::string text = fmt::format(
      "umfsim serve-sim  {} on {}, {} (weights {}, KV {}), policy {}\n\n", run.source,
      scenario.general.name, run.model, run.weight_format, run.kv_format, scenario.policy);
  text += fmt::format("requests       {} arrived, {} done, {} refused as too long, {} pre-empted\n",
                      c.arrived, c.done, c.too_long, c.preemptions);
  text += fmt::format(
      "served         {}: {:.3f} requests/s, {:.0f} output tokens/s, {:.0f} tokens/s computed\n",
      duration(run.seconds()), rate(c.done, run), rate(all.output_tokens, run),
      rate(c.computed_tokens, run));
  text += row("first token", all.ttft_ms) + row("per token", all.tpot_ms);
  for (std::size_t k = 0; k < promised.size(); ++k) {
    const auto own = serving::latency_of(run.outcomes, promised, static_cast<int>(k));
    text += fmt::format(
        "goodput        {:.3f} requests/s of class {} ({:.1f} % of {}) within {} and "
        "{} a token\n",
        rate(own.kept, run), promised[k].name, 100 * share(own.kept, own.requests), own.requests,
        duration(promised[k].ttft.seconds()), duration(promised[k].tpot.seconds()));
  }
  text += tenants_text(run);
  text += fmt::format("prefix cache   {:.2f} % of {} prompt tokens found\n",
                      100 * share(c.cached_tokens, c.prompt_tokens), c.prompt_tokens);
  text +=
      fmt::format("KV cache       {} blocks of {} tokens in {} of HBM and {} of pool; {} held at "
                  "the peak, {} evicted\n",
                  run.room.blocks, run.config.block, binary_bytes(run.room.hbm.count),
                  binary_bytes(run.room.pool.count), run.peak_held_blocks, run.evicted_blocks);
  text += machine_text(run) + fold_text(run, error);
  for (const auto& odd : run.oddities)
    text += fmt::format("oddity         {} × {}: {}\n", odd.count, odd.code, odd.sentence);
  return text + fmt::format("ledger         {}\n",
                            hw::balanced(run.machine.ledger) ? "balances" : "DOES NOT BALANCE");
}

std::string requests_csv(const ServeRun& run) {
  std::vector<const serving::Outcome*> order;
  for (const auto& outcome : run.outcomes)
    order.push_back(&outcome);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  const auto classes = run.config.service_classes();
  std::string csv = "id,class,arrival_ns,prompt_tokens,output_tokens,cached_tokens,admitted_ns,"
                    "first_token_ns,end_ns,preemptions";
  if (!run.tenants.empty()) csv += ",tenant";
  csv += '\n';
  for (const auto* o : order) {
    fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{}", o->id,
                   classes[o->service_class].name, o->arrival_ns, o->prompt_tokens,
                   o->output_tokens, o->cached_tokens, o->admitted_ns, o->first_token_ns, o->end_ns,
                   o->preemptions);
    if (!run.tenants.empty())
      fmt::format_to(std::back_inserter(csv), ",{}", csv_field(run.tenants[o->tenant].name));
    csv += '\n';
  }
  return csv;
}

void write_serving_files(const ServeRun& run, const std::optional<FoldingError>& error,
                         const std::string& command, const std::filesystem::path& folder) {
  Json wall = run_json(run.machine, {command, utc_now(), {}});
  wall["speed"] = run.seconds() / std::max(run.machine.wall_seconds, 1e-9);
  traces::write_whole(folder, {{"requests.csv", requests_csv(run)},
                               {"run.json", json_text(wall)},
                               {"summary.json", json_text(serving_json(run, error))}});
}

} // namespace umf::app
