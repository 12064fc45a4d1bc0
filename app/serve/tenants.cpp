#include "app/serve/tenants.h"

#include "app/report/quantities.h"
#include "app/serve/serve_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace umf::app {

using Json = nlohmann::ordered_json;

TenantsOutcome outcome_of_tenants(const ServeRun& run) {
  TenantsOutcome all;
  const auto promised = run.config.service_classes();
  for (const serving::Outcome& outcome : run.outcomes)
    all.last_arrival_ns = std::max(all.last_arrival_ns, outcome.arrival_ns);
  std::vector<double> tokens, served;
  for (std::uint32_t t = 0; t < run.tenants.size(); ++t) {
    TenantOutcome& one = all.tenants.emplace_back();
    std::vector<serving::Outcome> own;
    for (const serving::Outcome& outcome : run.outcomes) {
      if (outcome.tenant != t) continue;
      own.push_back(outcome);
      const std::uint64_t size = std::uint64_t{outcome.prompt_tokens} + outcome.output_tokens;
      ++one.arrived;
      one.asked_tokens += size;
      if (outcome.end_ns <= all.last_arrival_ns) one.served_tokens += size;
    }
    one.latency = serving::latency_of(own, promised);
    if (one.asked_tokens == 0) continue; // it wants nothing: nobody is unfair to it
    const auto got = static_cast<double>(one.served_tokens);
    tokens.push_back(got / run.tenants[t].weight);
    served.push_back(got / static_cast<double>(one.asked_tokens));
  }
  all.jain_tokens = serving::jain_index(tokens);
  all.jain_served = serving::jain_index(served);
  return all;
}

namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t all_served(const TenantsOutcome& outcome) {
  std::uint64_t all = 0;
  for (const TenantOutcome& one : outcome.tenants)
    all += one.served_tokens;
  return all;
}

Json spread_json(const WindowSpread& spread) {
  return {{"mean", spread.mean},
          {"min", spread.min},
          {"max", spread.max},
          {"deviation", spread.deviation}};
}

} // namespace

Json tenants_json(const ServeRun& run, const TenantsOutcome& outcome) {
  Json tenants = Json::array();
  const std::uint64_t all = all_served(outcome);
  for (std::size_t t = 0; t < run.tenants.size(); ++t) {
    const TenantOutcome& one = outcome.tenants[t];
    Json json = {
        {"name", run.tenants[t].name},        {"class", run.tenants[t].service_class},
        {"weight", run.tenants[t].weight},    {"asked_tokens", one.asked_tokens},
        {"served_tokens", one.served_tokens}, {"share_of_tokens", share(one.served_tokens, all)}};
    json.update(latency_json(one.latency, run));
    tenants.push_back(std::move(json));
  }
  return tenants;
}

Json fairness_json(const TenantsOutcome& outcome) {
  return {{"jain_tokens", outcome.jain_tokens},
          {"jain_served", outcome.jain_served},
          {"last_arrival_ns", outcome.last_arrival_ns}};
}

Json utilisation_json(const Utilisation::Figures& figures) {
  return {{"window_ns", figures.window_ns},
          {"windows", figures.windows},
          {"busy", spread_json(figures.busy)},
          {"memory", spread_json(figures.memory)},
          {"arithmetic", spread_json(figures.arithmetic)}};
}

std::string tenants_text(const ServeRun& run) {
  if (run.tenants.empty()) return {};
  const TenantsOutcome outcome = outcome_of_tenants(run);
  const std::uint64_t all = all_served(outcome);
  std::size_t width = 14;
  for (const serving::Tenant& tenant : run.tenants)
    width = std::max(width, tenant.name.size() + 1);
  std::string text = fmt::format("\n{:<{}}{:>9} {:>7} {:>8}  {:>22}  {:>22} {:>8} {:>8}\n",
                                 "tenant", width + 2, "class", "weight", "requests",
                                 "first token P50, P99", "per token P50, P99", "kept", "tokens");
  const auto ms = [](double value) { return duration(value * 1e-3); };
  for (std::size_t t = 0; t < run.tenants.size(); ++t) {
    const TenantOutcome& one = outcome.tenants[t];
    const serving::Latency& l = one.latency;
    text += fmt::format(
        "  {:<{}}{:>9} {:>7} {:>8} {:>11} {:>11} {:>11} {:>11} {:>6.1f} % {:>6.1f} %\n",
        run.tenants[t].name, width, run.tenants[t].service_class, run.tenants[t].weight, l.requests,
        ms(l.ttft_ms.p50), ms(l.ttft_ms.p99), ms(l.tpot_ms.p50), ms(l.tpot_ms.p99),
        100 * share(l.kept, l.requests), 100 * share(one.served_tokens, all));
  }
  text +=
      fmt::format("fairness       Jain {:.3f} of tokens by weight, {:.3f} of the served part of "
                  "what was asked, until the last arrival\n",
                  outcome.jain_tokens, outcome.jain_served);
  const auto& u = run.utilisation;
  const auto part = [](const WindowSpread& s) {
    return fmt::format("{:.1f} ± {:.1f} %", 100 * s.mean, 100 * s.deviation);
  };
  return text +
         fmt::format("utilisation    busy {}, memory {}, arithmetic {} over {} windows of {}\n\n",
                     part(u.busy), part(u.memory), part(u.arithmetic), u.windows,
                     duration(static_cast<double>(u.window_ns) * 1e-9));
}

} // namespace umf::app
