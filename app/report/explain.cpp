#include "app/report/explain.h"

#include "app/report/json_text.h"
#include "app/report/printable.h"
#include "app/report/quantities.h"
#include "app/version.h"
#include "hw/platform/limits.h"
#include "model/base/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

const Json& ns_of(const Json& summary) {
  return summary.at("time").at("simulated_ns");
}

/// Time, what it saves of `base` ns, and how many times as fast that is; or why there is none.
void add_result(Json& entry, const VariantResult& result, double base) {
  if (result.summary.is_null()) {
    entry["refused"] = result.refusal;
    return;
  }
  const double ns = ns_in(ns_of(result.summary));
  entry["simulated_ns"] = ns_of(result.summary);
  entry["saved_ns"] = base - ns;
  entry["saved"] = base > 0 ? 1 - ns / base : 0.0;
  entry["times_as_fast"] = ns > 0 ? base / ns : 0.0;
}

/// Those that save most first, refused ones last.
void sort(Json& entries, bool largest = false) {
  std::stable_sort(entries.begin(), entries.end(), [&](const Json& a, const Json& b) {
    if (a.contains("refused") || b.contains("refused"))
      return !a.contains("refused") && b.contains("refused");
    const double x = a.at("saved").get<double>(), y = b.at("saved").get<double>();
    return largest ? std::abs(x) > std::abs(y) : x > y;
  });
}

Json limits_json(const FinishedRun& run, const Explanation& found, const std::vector<Blame>& blamed,
                 double base) {
  Json limits = Json::array();
  for (const VariantResult& result : found.limits) {
    Json entry = {{"limit", result.name}};
    const auto blame = std::find_if(blamed.begin(), blamed.end(),
                                    [&](const Blame& b) { return b.name == result.name; });
    const bool link = result.name.starts_with(hw::kLinkLimit);
    // Of several links the summary blames none by name.
    if (blame != blamed.end() || !link)
      entry["blamed"] = blame == blamed.end() ? 0.0 : blame->share;
    if (link)
      entry["busy"] =
          run.summary.at("links").at(result.name.substr(hw::kLinkLimit.size())).at("utilisation");
    add_result(entry, result, base);
    limits.push_back(std::move(entry));
  }
  sort(limits);
  return limits;
}

Json mechanisms_json(const FinishedRun& run, const Explanation& found, double base) {
  Json mechanisms = Json::array();
  const auto policy = run.summary.at("policy").get<std::string>();
  for (const VariantResult& result : found.mechanisms) {
    Json entry = {{"mechanism", result.name}, {"what", mechanism_name(policy, result.name)}};
    add_result(entry, result, base);
    mechanisms.push_back(std::move(entry));
  }
  sort(mechanisms, true);
  return mechanisms;
}

Json tries_json(const Explanation& found, double base) {
  Json tries = Json::array();
  for (const Tried& tried : found.tries) {
    Json entry = {
        {"change", tried.change.name}, {"why", tried.change.why}, {"set", tried.change.sets}};
    add_result(entry, tried.result, base);
    if (!tried.result.summary.is_null())
      entry["ledger"] = {{"ok", tried.result.summary.at("ledger").at("ok")}};
    tries.push_back(std::move(entry));
  }
  sort(tries);
  for (const Change& change : found.refused)
    tries.push_back({{"change", change.name}, {"set", change.sets}, {"refused", change.why}});
  return tries;
}

} // namespace

Json explanation_json(const FinishedRun& run, const Explanation& found) {
  const Json& summary = run.summary;
  const double base = ns_in(ns_of(summary));
  std::vector<std::string> limits;
  if (!found.limits.empty() || !found.not_tried.empty())
    limits =
        hw::limits_of(hw::read_scenario(load_scenario(run.request.scenario, run.request.sets)));
  const auto blamed = blames(summary, limits);
  Json where = Json::array();
  for (const Blame& blame : blamed)
    where.push_back({{"name", blame.name}, {"share", blame.share}, {"liftable", blame.liftable}});
  return {{"version", kVersion},
          {"trace", summary.at("trace").at("source")},
          {"scenario", summary.at("scenario")},
          {"policy", summary.at("policy")},
          {"time", {{"simulated_ns", base}}},
          {"bound", found.bound},
          {"blamed", std::move(where)},
          {"limits", limits_json(run, found, blamed, base)},
          {"mechanisms", mechanisms_json(run, found, base)},
          {"tries", tries_json(found, base)},
          {"not_tried", found.not_tried}};
}

namespace {

std::string time_of(const Json& entry) {
  return duration(ns_in(entry.at("simulated_ns")) * 1e-9);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

double saved(const Json& entry) {
  return entry.contains("saved") ? entry.at("saved").get<double>() : 0.0;
}

bool is_refused(const Json& entry) {
  return entry.contains("refused");
}

/// "2.01 times as fast", "6.0 % slower"
std::string speed(const Json& entry) {
  const double times = entry.at("times_as_fast").get<double>();
  if (times >= 1.1) return fmt::format("{:.2f} times as fast", times);
  if (saved(entry) >= kNoDifference) return percent(saved(entry)) + " less time";
  if (saved(entry) <= -kNoDifference) return percent(-saved(entry)) + " more time";
  return "no difference";
}

/// The limits that were blamed, or lifted for a gain; then what stands out.
void bounded(Out out, const Json& all) {
  fmt::format_to(out, "\n1  What bounded it\n");
  const Json& limits = all.at("limits");
  std::vector<std::string> nothing;
  if (!limits.empty())
    fmt::format_to(out, "   {:<22}{:>10}{:>15}   {}\n", "limit", "blamed", "without it", "gain");
  for (const Json& limit : limits) {
    const auto name = limit.at("limit").get<std::string>();
    const double share = limit.value("blamed", 0.0);
    if (is_refused(limit)) {
      fmt::format_to(out, "   {:<22}refused: {}\n", name, limit.at("refused").get<std::string>());
    } else if (std::abs(saved(limit)) < kNoDifference && share < kNoDifference &&
               limit.value("busy", 0.0) < 0.5) {
      nothing.push_back(name);
    } else {
      const std::string blamed = limit.contains("blamed")
                                     ? percent(share)
                                     : percent(limit.at("busy").get<double>()) + " busy";
      fmt::format_to(out, "   {:<20}{:>12}{:>15}   {}\n", name, blamed, time_of(limit),
                     speed(limit));
    }
  }
  if (!nothing.empty()) fmt::format_to(out, "   No difference: {}.\n", fmt::join(nothing, ", "));
}

/// What stands out of the table.
void bounded_in_words(Out out, const Json& all) {
  const Json& limits = all.at("limits");
  const Json& blamed = all.at("blamed");
  if (!blamed.empty())
    fmt::format_to(out, "   {} held it up longest: {} of the time.\n",
                   blamed.front().at("name").get<std::string>(),
                   percent(blamed.front().at("share").get<double>()));
  if (!limits.empty() && saved(limits.front()) >= kNoDifference)
    fmt::format_to(out, "   Lifting {} gains most: {}, {}.\n",
                   limits.front().at("limit").get<std::string>(), time_of(limits.front()),
                   speed(limits.front()));
  else if (!limits.empty())
    fmt::format_to(out, "   Lifting no limit alone makes it shorter.\n");
  constexpr double kFarApart = 0.05;
  std::vector<std::string> apart;
  for (const Json& limit : limits) {
    if (is_refused(limit) || !limit.contains("blamed")) continue;
    const double share = limit.at("blamed").get<double>();
    if (std::abs(share - saved(limit)) >= kFarApart)
      apart.push_back(fmt::format("{} was blamed on {}, lifting it saves {}", percent(share),
                                  limit.at("limit").get<std::string>(), percent(saved(limit))));
  }
  if (!apart.empty()) fmt::format_to(out, "   Blame is not gain: {}.\n", fmt::join(apart, "; "));
  std::vector<std::string> others;
  for (const Json& blame : blamed)
    if (!blame.at("liftable").get<bool>() && blame.at("share").get<double>() >= kNoDifference)
      others.push_back(blame.at("name").get<std::string>() + " " +
                       percent(blame.at("share").get<double>()));
  if (!others.empty())
    fmt::format_to(out, "   Nothing to lift for: {} of the time.\n", fmt::join(others, ", "));
}

/// Links in a row that are equally slow hide one another.
void hidden_links(Out out, const Json& all) {
  double together = 0, alone = 0;
  std::size_t links = 0;
  for (const Json& limit : all.at("limits")) {
    if (limit.at("limit") == "links") together = saved(limit);
    if (!limit.at("limit").get<std::string>().starts_with(hw::kLinkLimit)) continue;
    alone = std::max(alone, saved(limit));
    ++links;
  }
  if (links > 1 && together >= 0.02 && alone < together / 2)
    fmt::format_to(out,
                   "   No link alone is worth more than {}, all together {}: links in a row hide "
                   "one another.\n",
                   percent(alone), percent(together));
}

void mechanisms(Out out, const Json& all) {
  const Json& list = all.at("mechanisms");
  if (list.empty()) return;
  fmt::format_to(out, "\n2  What each mechanism of {} was worth\n",
                 all.at("policy").get<std::string>());
  std::vector<std::string> nothing;
  for (const Json& entry : list) {
    const std::string name = fmt::format("{} {}", entry.at("mechanism").get<std::string>(),
                                         entry.at("what").get<std::string>());
    if (is_refused(entry)) {
      fmt::format_to(out, "   {}: refused without it: {}\n", name,
                     entry.at("refused").get<std::string>());
      continue;
    }
    const double share = saved(entry), seconds = entry.at("saved_ns").get<double>() * 1e-9;
    if (std::abs(share) < kNoDifference)
      nothing.push_back(name);
    else if (share < 0)
      fmt::format_to(out, "   {} saves {}: without it the run takes {}, {} more.\n", name,
                     duration(-seconds), time_of(entry), percent(-share));
    else
      fmt::format_to(out, "   {} costs {}: without it the run takes {}, {} less.\n", name,
                     duration(seconds), time_of(entry), percent(share));
  }
  if (!nothing.empty())
    fmt::format_to(out, "   No difference (below {}): {}.\n", percent(kNoDifference),
                   fmt::join(nothing, ", "));
}

/// As a shell takes it.
std::string pasted(const Json& sets) {
  std::string text;
  for (const auto& item : sets) {
    const auto set = item.get<std::string>();
    const bool plain =
        set.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_./=:,+") == std::string::npos;
    std::string quoted;
    for (const char c : set)
      quoted += c == '\'' ? "'\\''" : std::string(1, c);
    text += (text.empty() ? "--set " : " --set ") + (plain ? set : "'" + quoted + "'");
  }
  return text;
}

void tries(Out out, const Json& all) {
  const Json& bound = all.at("bound");
  const Json& list = all.at("tries");
  if (bound.is_null() && list.empty()) return;
  fmt::format_to(out, "\n3  What to try next, with the --set to add to the command\n");
  if (!bound.is_null())
    fmt::format_to(out, "   {:>14}   the floor: no policy is faster on this machine\n",
                   duration(ns_in(ns_of(bound)) * 1e-9));
  for (const Json& entry : list) {
    const auto change = entry.at("change").get<std::string>();
    if (is_refused(entry)) {
      fmt::format_to(out, "   {:>14}   {}: {}\n", "refused", change,
                     entry.at("refused").get<std::string>());
      continue;
    }
    fmt::format_to(out, "   {:>14}   {}: {} ({})\n{:17}   {}\n", time_of(entry), change,
                   speed(entry), entry.at("why").get<std::string>(), "", pasted(entry.at("set")));
  }
}

} // namespace

std::string explanation_text(const Json& all, double within_seconds, double wall_seconds) {
  std::string text;
  const Out out = std::back_inserter(text);
  fmt::format_to(out, "umfsim explain  {} on {}  (policy {}): {}\n",
                 all.at("trace").get<std::string>(),
                 all.at("scenario").at("name").get<std::string>(),
                 all.at("policy").get<std::string>(), time_of(all.at("time")));
  bounded(out, all);
  bounded_in_words(out, all);
  hidden_links(out, all);
  mechanisms(out, all);
  tries(out, all);
  if (const Json& left = all.at("not_tried"); !left.empty())
    fmt::format_to(
        out, "\nNot tried, beyond {} changes or --within {:g} s (a run takes {:.1f} s): {}.\n",
        kMostTries, within_seconds, wall_seconds,
        fmt::join(left.get<std::vector<std::string>>(), ", "));
  return printable(std::move(text));
}

} // namespace umf::app
