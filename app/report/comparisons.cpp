#include "app/report/comparisons.h"

#include "app/report/json_text.h"
#include "app/report/printable.h"
#include "app/report/quantities.h"
#include "model/policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

/// What one line of a comparison shows.
struct Line {
  std::string name;
  bool own = false;
  double seconds = 0;
  std::uint64_t faults = 0, remote_hits = 0, migrated = 0;
  std::string refusal;
};

const Json* bound_in(const std::vector<VariantResult>& results) {
  for (const auto& result : results)
    if (result.kind == Variant::Kind::bound && !result.summary.is_null()) return &result.summary;
  return nullptr;
}

double seconds_of(const Json& summary) {
  return ns_in(summary.at("time").at("simulated_ns")) * 1e-9;
}

Line line_of(std::string name, const Json& summary) {
  const Json& scheduler = summary.at("scheduler");
  Line line;
  line.name = std::move(name);
  line.seconds = seconds_of(summary);
  line.faults = scheduler.at("faults").get<std::uint64_t>();
  line.remote_hits = scheduler.at("remote_hits").get<std::uint64_t>();
  line.migrated = scheduler.at("migrated_bytes").get<std::uint64_t>();
  return line;
}

/// Fastest first, refused ones last, else as asked.
std::vector<Line> lines_of(const std::vector<VariantResult>& results, Variant::Kind kind) {
  std::vector<Line> lines;
  for (const auto& result : results) {
    if (result.kind != kind) continue;
    if (result.summary.is_null()) {
      lines.emplace_back();
      lines.back().name = result.name;
      lines.back().refusal = result.refusal;
    } else {
      lines.push_back(line_of(result.name, result.summary));
    }
  }
  return lines;
}

void sort(std::vector<Line>& lines) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.refusal.empty() && a.seconds < b.seconds;
  });
}

std::string sentence_of(const std::string& policy) {
  for (const auto& kind : policy::kinds())
    if (kind_of(*kind.info) == policy) return std::string(kind.sentence);
  return {};
}

/// "20.0 ms links (1.05 GB at 52.7 GB/s: distinct bytes …)"
std::string part_of(const Json& part) {
  std::string text = fmt::format("{} {}", duration(part.at("ns").get<double>() * 1e-9),
                                 part.at("limit").get<std::string>());
  const double amount = part.at("amount").get<double>(), rate = part.at("per_s").get<double>();
  const std::string what = part.at("what").get<std::string>();
  if (amount <= 0) return fmt::format("{} ({})", text, what);
  if (part.at("limit") == "arithmetic")
    return fmt::format("{} ({:.3g} FLOP at {:.3g} FLOP/s)", text, amount, rate);
  return fmt::format("{} ({} at {}/s: {})", text, decimal_bytes(static_cast<std::uint64_t>(amount)),
                     decimal_bytes(static_cast<std::uint64_t>(rate)), what);
}

/// First row: what no policy passes, and why.
void bound_row(Out out, const Json& bound, double base) {
  const double seconds = seconds_of(bound);
  fmt::format_to(out, "  {:<15}{:>13} {:>8} {:>11} {:>13} {:>11}\n", kBound, duration(seconds),
                 base > 0 ? fmt::format("{:.2f} ×", seconds / base) : "-", "-", "-",
                 decimal_bytes(bound.at("link_bytes").get<std::uint64_t>()));
  fmt::format_to(out, "    No policy is faster, whatever lies where. Of it:\n");
  for (const Json& part : bound.at("parts"))
    fmt::format_to(out, "      {}\n", part_of(part));
}

void ladder(Out out, const Json& own, const std::vector<VariantResult>& results) {
  std::vector<Line> lines = lines_of(results, Variant::Kind::policy);
  const Json* bound = bound_in(results);
  if (lines.empty() && bound == nullptr) return;
  lines.push_back(line_of(own.at("policy").get<std::string>(), own));
  lines.back().own = true;
  const double base = lines.back().seconds;
  sort(lines);
  fmt::format_to(out, "\n{:<17}{:>13} {:>9} {:>11} {:>13} {:>11}\n", "policies", "simulated",
                 "of this", "faults", "remote hits", "migrated");
  if (bound != nullptr) bound_row(out, *bound, base);
  for (const Line& line : lines) {
    if (line.refusal.empty())
      fmt::format_to(out, "  {:<15}{:>13} {:>8} {:>11} {:>13} {:>11}{}\n", line.name,
                     duration(line.seconds),
                     base > 0 ? fmt::format("{:.2f} ×", line.seconds / base) : "-", line.faults,
                     line.remote_hits, decimal_bytes(line.migrated), line.own ? "  <- this" : "");
    else
      fmt::format_to(out, "  {:<15}refused: {}\n", line.name, line.refusal);
    fmt::format_to(out, "    {}\n", sentence_of(line.name));
  }
}

/// "S4 prefetch"
std::string mechanism_of(const Json& own, const std::string& id) {
  return fmt::format("{} {}", id, mechanism_name(own.at("policy").get<std::string>(), id));
}

std::string signed_duration(double seconds) {
  return fmt::format("{}{}", seconds < 0 ? "-" : "", duration(std::abs(seconds)));
}

void limits(Out out, const Json& own, const std::vector<VariantResult>& results) {
  std::vector<Line> lines = lines_of(results, Variant::Kind::ideal);
  if (lines.empty()) return;
  const double base = seconds_of(own);
  sort(lines);
  fmt::format_to(out, "\n{:<26}{:>13} {:>13}\n", "limit lifted", "simulated", "gain");
  for (const Line& line : lines) {
    if (!line.refusal.empty()) {
      fmt::format_to(out, "  {:<24}refused: {}\n", line.name, line.refusal);
      continue;
    }
    const double gain = base - line.seconds;
    fmt::format_to(out, "  {:<24}{:>13} {:>13} {:>7.2f} %\n", line.name, duration(line.seconds),
                   signed_duration(gain), base > 0 ? 100 * gain / base : 0.0);
  }
  const Line& best = lines.front();
  if (best.refusal.empty() && best.seconds < base)
    fmt::format_to(out, "  worth most: {}, {:.1f} % less time without its limit\n", best.name,
                   100 * (base - best.seconds) / base);
  else
    fmt::format_to(out, "  no lifted limit makes this run shorter\n");
}

/// What each mechanism of the policy was worth: how much longer the run takes without it.
void mechanisms(Out out, const Json& own, const std::vector<VariantResult>& results) {
  const std::vector<Line> lines = lines_of(results, Variant::Kind::without);
  if (lines.empty()) return;
  const double base = seconds_of(own);
  fmt::format_to(out, "\n{:<26}{:>13} {:>13} {:>9} {:>13}\n", "without", "simulated",
                 "it was worth", "", "migrated");
  for (const Line& line : lines) {
    if (!line.refusal.empty()) {
      fmt::format_to(out, "  {:<24}refused: {}\n", line.name, line.refusal);
      continue;
    }
    const double worth = line.seconds - base;
    fmt::format_to(out, "  {:<24}{:>13} {:>13} {:>7.2f} % {:>13}\n", mechanism_of(own, line.name),
                   duration(line.seconds), signed_duration(worth),
                   base > 0 ? 100 * worth / base : 0.0, decimal_bytes(line.migrated));
  }
}

/// How much of the result is owed to the length of bursts.
void bursts(Out out, const Json& own, const std::vector<VariantResult>& results) {
  const std::vector<Line> lines = lines_of(results, Variant::Kind::bursts);
  if (lines.empty()) return;
  const double base = seconds_of(own);
  fmt::format_to(out, "\n{:<26}{:>13} {:>13}\n", "longest burst", "simulated", "this is off by");
  for (const Line& line : lines) {
    if (!line.refusal.empty())
      fmt::format_to(out, "  {:<24}refused: {}\n", line.name, line.refusal);
    else
      fmt::format_to(out, "  {:<24}{:>13} {:>11.3f} %\n", line.name, duration(line.seconds),
                     line.seconds > 0 ? 100 * (base / line.seconds - 1) : 0.0);
  }
}

/// The list of summary.json, and what an entry of it is called by.
std::pair<const char*, const char*> place_of(Variant::Kind kind) {
  switch (kind) {
  case Variant::Kind::ideal:
    return {"ideal", "limit"};
  case Variant::Kind::bursts:
    return {"bursts", "max_burst"};
  case Variant::Kind::without:
    return {"without", "mechanism"};
  default:
    return {"against", "policy"};
  }
}

} // namespace

void add_comparisons(Json& own, const std::vector<VariantResult>& results) {
  if (const Json* bound = bound_in(results)) own["bound"] = *bound;
  for (const auto& result : results) {
    if (result.kind == Variant::Kind::bound) continue;
    const auto [list, key] = place_of(result.kind);
    Json entry = {{key, result.name}};
    if (result.summary.is_null()) {
      entry["refused"] = result.refusal;
    } else {
      for (const char* part : {"time", "time_by_cause", "tiers", "links", "scheduler"})
        entry[part] = result.summary.at(part);
      entry["ledger"] = {{"ok", result.summary.at("ledger").at("ok")}};
    }
    own[list].push_back(entry);
  }
}

std::string comparison_tables(const Json& own, const std::vector<VariantResult>& results) {
  std::string text;
  const Out out = std::back_inserter(text);
  ladder(out, own, results);
  mechanisms(out, own, results);
  limits(out, own, results);
  bursts(out, own, results);
  return printable(std::move(text));
}

std::vector<std::string> unbalanced(const std::vector<VariantResult>& results) {
  std::vector<std::string> names;
  for (const auto& result : results)
    if (result.kind != Variant::Kind::bound && !result.summary.is_null() &&
        !result.summary.at("ledger").at("ok").get<bool>())
      names.push_back(result.name);
  return names;
}

} // namespace umf::app
