#include "app/run/explain.h"

#include "app/report/json_text.h"
#include "app/report/quantities.h"
#include "hw/fabric/cause.h"
#include "hw/platform/limits.h"
#include "hw/platform/topology.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/quantity.h"
#include "model/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kAtOnce = 2;

double simulated(const Json& summary) {
  return ns_in(summary.at("time").at("simulated_ns"));
}

std::string limit_of(hw::Cause cause) {
  switch (cause) {
  case hw::Cause::hbm_bandwidth:
  case hw::Cause::hbm_latency:
    return "hbm";
  case hw::Cause::l2_fabric:
    return "l2";
  case hw::Cause::cxl_bandwidth:
  case hw::Cause::cxl_latency:
    return "cxl";
  case hw::Cause::link_bandwidth:
  case hw::Cause::link_latency:
    return "links";
  case hw::Cause::translation:
    return "scheduler";
  default:
    return std::string(hw::name_of(cause));
  }
}

bool is_link(const std::string& limit) {
  return limit.starts_with(hw::kLinkLimit);
}

double busy(const Json& summary, const std::string& link) {
  const Json& links = summary.at("links");
  return links.contains(link) ? links.at(link).at("utilisation").get<double>() : 0.0;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

std::vector<Blame> blames(const Json& summary, const std::vector<std::string>& limits) {
  const double time = simulated(summary);
  std::vector<Blame> blames;
  for (std::size_t c = 0; c < hw::kCauses; ++c) {
    const auto cause = static_cast<hw::Cause>(c);
    const double ns =
        ns_in(summary.at("time_by_cause").at(std::string(hw::name_of(cause)) + "_ns"));
    if (ns <= 0 || time <= 0) continue;
    std::string limit = limit_of(cause);
    // One link alone is its own limit.
    if (limit == "links" && !has(limits, limit))
      if (const auto one = std::find_if(limits.begin(), limits.end(), is_link); one != limits.end())
        limit = *one;
    const bool liftable = has(limits, limit);
    const std::string name = liftable ? limit : std::string(hw::name_of(cause));
    const auto there = std::find_if(blames.begin(), blames.end(),
                                    [&](const Blame& blame) { return blame.name == name; });
    if (there == blames.end())
      blames.push_back({name, ns / time, liftable});
    else
      there->share += ns / time;
  }
  std::stable_sort(blames.begin(), blames.end(),
                   [](const Blame& a, const Blame& b) { return a.share > b.share; });
  return blames;
}

std::vector<std::string> by_blame(const Json& summary, std::vector<std::string> limits) {
  std::map<std::string, double> weight;
  for (const Blame& blame : blames(summary, limits))
    weight[blame.name] = blame.share;
  double most = 0;
  for (const auto& limit : limits)
    if (is_link(limit)) most = std::max(most, busy(summary, limit.substr(hw::kLinkLimit.size())));
  if (has(limits, "links") && most > 0)
    for (const auto& limit : limits)
      if (is_link(limit)) // behind all of them together
        weight[limit] =
            0.999 * weight["links"] * busy(summary, limit.substr(hw::kLinkLimit.size())) / most;
  std::stable_sort(limits.begin(), limits.end(), [&](const std::string& a, const std::string& b) {
    return weight[a] > weight[b];
  });
  return limits;
}

Shares shared_out(std::size_t reruns, std::size_t limits, std::size_t mechanisms) {
  if (reruns == 0) return {};
  const std::size_t all = reruns - 1, kept = std::min(kMostTries, all / 3);
  Shares shares;
  shares.limits = std::min(limits, (all - kept + 1) / 2);
  shares.mechanisms = std::min(mechanisms, all - kept - shares.limits);
  shares.limits = std::min(limits, all - kept - shares.mechanisms);
  shares.tries = std::min(kMostTries, all - shares.limits - shares.mechanisms);
  return shares;
}

std::size_t reruns_within(double within_seconds, double wall_seconds) {
  constexpr double kShortest = 0.01, kMany = 1000; // a process is not free
  const double rounds = std::floor(within_seconds / std::max(wall_seconds, kShortest));
  return kAtOnce * static_cast<std::size_t>(std::clamp(rounds, 0.0, kMany));
}

namespace {

/// Collects changes of one run that its scenario allows.
class Finder {
public:
  explicit Finder(const FinishedRun& run)
      : run_(run),
        scenario_(hw::read_scenario(load_scenario(run.request.scenario, run.request.sets))) {}

  Changes find(std::optional<double> links_gain) {
    const double blamed = link_blame();
    constexpr double kBinds = 0.05, kGains = 0.02;
    const bool links_bind = blamed >= kBinds || links_gain.value_or(0) >= kGains;
    const std::vector<const hw::LinkSpec*> path = links_bind ? busiest_path() : Path();
    const std::string why =
        blamed >= kBinds
            ? fmt::format("links held it up {:.1f} % of the time", 100 * blamed)
            : fmt::format("lifting links saves {:.1f} %", 100 * links_gain.value_or(0));
    if (!path.empty()) more_links(path, why);
    policy("best-static", "what the best fixed places would do; it knows the trace");
    more_hbm();
    if (!path.empty()) next_generation(path, why);
    windows();
    commands();
    packing();
    for (const char* name : {"umf", "lru", "remote-read"})
      policy(name, "another policy, with its default keys");
    return std::move(changes_);
  }

private:
  using Path = std::vector<const hw::LinkSpec*>;

  const Json& scheduler() const { return run_.summary.at("scheduler"); }

  std::string value(const std::string& pointer) const {
    const KeyRecord* record = scenario_.keys.find(pointer);
    return record == nullptr || record->value == "none" ? std::string() : record->value;
  }
  std::optional<std::uint64_t> whole(const std::string& pointer) const {
    const std::string text = value(pointer);
    return text.empty() ? std::nullopt : std::optional(std::stoull(text));
  }

  double link_blame() const {
    double share = 0;
    for (const Blame& blame : blames(run_.summary, {"links"}))
      if (blame.name == "links") share += blame.share;
    return share;
  }

  /// The busiest link and those on its ways from GPUs to tiers that are nearly as busy: more of one
  /// alone would wait for the others.
  Path busiest_path() const {
    const auto used = [&](const hw::LinkSpec& link) { return busy(run_.summary, link.name); };
    std::size_t busiest = 0;
    for (std::size_t l = 1; l < scenario_.links.size(); ++l)
      if (used(scenario_.links[l]) > used(scenario_.links[busiest])) busiest = l;
    if (scenario_.links.empty() || used(scenario_.links[busiest]) <= 0) return {};
    const hw::Topology topology(scenario_);
    std::vector<bool> on(scenario_.links.size());
    for (std::uint32_t g = 0; g < scenario_.general.gpus; ++g)
      for (std::size_t t = 0; t < scenario_.tiers.size(); ++t)
        if (const hw::Path* path = topology.path(g, t);
            path != nullptr && std::find(path->begin(), path->end(), busiest) != path->end())
          for (const std::size_t l : *path)
            on[l] = on[l] || used(scenario_.links[l]) >= 0.75 * used(scenario_.links[busiest]);
    Path path;
    for (std::size_t l = 0; l < on.size(); ++l)
      if (on[l]) path.push_back(&scenario_.links[l]);
    return path;
  }

  static std::string names_of(const Path& path) {
    std::vector<std::string> names;
    for (const hw::LinkSpec* link : path)
      names.push_back(link->name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  /// "links.gpu0-sw0.count=2"; with the pointer where a name has a dot.
  static std::string set(const std::string& pointer, const std::string& value) {
    std::string path = pointer.substr(1);
    if (path.find_first_of(".~") != std::string::npos) return pointer + "=" + value;
    std::replace(path.begin(), path.end(), '/', '.');
    return path + "=" + value;
  }

  std::string refusal(const std::vector<std::string>& sets) const {
    std::vector<std::string> all = run_.request.sets;
    all.insert(all.end(), sets.begin(), sets.end());
    try {
      hw::read_scenario(load_scenario(run_.request.scenario, all));
      return {};
    } catch (const UserError& error) {
      const std::string what = error.what();
      return what.substr(0, what.find('\n'));
    }
  }

  void offer(Change change) {
    const std::string why_not = refusal(change.sets);
    if (why_not.empty()) {
      changes_.tries.push_back(std::move(change));
    } else {
      change.why = why_not;
      changes_.refused.push_back(std::move(change));
    }
  }

  /// Rates asked of these links and of the tiers behind them would hold back what is added: they
  /// are raised along, or where that is more than the part carries, left to what it carries.
  void offer_on(const Path& path, Change change, double factor) {
    std::vector<std::string> raised = change.sets, unasked = change.sets;
    const auto raise = [&](const std::string& pointer) {
      const std::string rate = value(pointer);
      if (rate.empty() || scenario_.keys.overridden(pointer)) return;
      const BytesPerSecond asked = parse_quantity<BytesPerSecond>(rate);
      raised.push_back(set(pointer, print(BytesPerSecond{asked.value * factor})));
      unasked.push_back(set(pointer, "null"));
    };
    for (const hw::LinkSpec* link : path) {
      raise(link->pointer + "/bandwidth");
      for (const auto& tier : scenario_.tiers)
        if (link->to == tier->name && tier->asked()) raise(tier->pointer + "/bandwidth");
    }
    change.sets = refusal(raised).empty() ? std::move(raised) : std::move(unasked);
    offer(std::move(change));
  }

  void more_links(const Path& path, const std::string& why) {
    Change change{"one more link on " + names_of(path), why, {}};
    double factor = 2;
    for (const hw::LinkSpec* link : path) {
      // NVLinks count theirs under another name.
      for (const char* key : {"/count", "/links"}) {
        const auto count = whole(link->pointer + key);
        if (!count) continue;
        change.sets.push_back(set(link->pointer + key, std::to_string(*count + 1)));
        factor = std::min(factor, 1 + 1 / static_cast<double>(*count));
      }
    }
    if (!change.sets.empty()) offer_on(path, std::move(change), factor);
  }

  void next_generation(const Path& path, const std::string& why) {
    Change change{"the next generation on " + names_of(path), why, {}};
    for (const hw::LinkSpec* link : path)
      if (const auto generation = whole(link->pointer + "/generation"))
        change.sets.push_back(set(link->pointer + "/generation", std::to_string(*generation + 1)));
    if (!change.sets.empty()) offer_on(path, std::move(change), 2);
  }

  void policy(const std::string& name, const std::string& why) {
    if (name == scenario_.policy) return;
    offer({"policy " + name, why, {"policy={\"name\":" + in_quotes(name) + "}"}});
  }

  void more_hbm() {
    if (scheduler().at("remote_pages") == 0 && scheduler().at("faults") == 0) return;
    for (const auto& tier : scenario_.tiers) {
      if (tier->kind != "hbm") continue;
      const Json& used = run_.summary.at("tiers").at(tier->name);
      const auto peak = used.at("peak_bytes").get<double>();
      const auto capacity = static_cast<double>(tier->capacity().count);
      if (peak < 0.8 * capacity) return;
      const std::uint64_t unit = scenario_.scheduler.page.count;
      const Bytes more{tier->capacity().count * 5 / 4 / unit * unit};
      offer({"a quarter more HBM",
             fmt::format("HBM was {:.0f} % full, and {} pages were read or written outside",
                         100 * peak / capacity, scheduler().at("remote_pages").dump()),
             {set(tier->pointer + "/capacity", print(more))}});
      return;
    }
  }

  void windows() {
    const Json& prefetch = scheduler().at("prefetch");
    const auto late = prefetch.at("late").get<double>(),
               issued = prefetch.at("issued").get<double>();
    const auto window = whole("/policy/prefetch_window");
    if (!window || issued <= 0 || late / issued < 0.05) return;
    const std::string why =
        fmt::format("{:.0f} % of the pages prefetched were late", 100 * late / issued);
    offer({"twice the prefetch window",
           why,
           {set("/policy/prefetch_window", std::to_string(*window * 2))}});
    if (*window > 1)
      offer({"half the prefetch window",
             why,
             {set("/policy/prefetch_window", std::to_string(*window / 2))}});
  }

  void commands() {
    const auto refused = scheduler().at("commands_refused").get<std::uint64_t>();
    const auto queue = whole("/scheduler/command_queue");
    if (refused == 0 || !queue) return;
    offer({"twice the command queue",
           fmt::format("{} moves were refused", refused),
           {set("/scheduler/command_queue", std::to_string(*queue * 2))}});
  }

  void packing() {
    if (value("/policy/pack") != "off") return;
    std::uint64_t outside = 0;
    for (const auto& tier : scenario_.tiers)
      if (!tier->on_package())
        outside += run_.summary.at("tiers")
                       .at(tier->name)
                       .at("regions")
                       .at("kv")
                       .at("peak_bytes")
                       .get<std::uint64_t>();
    if (outside == 0) return;
    offer({"KV outside HBM in fewer bits",
           fmt::format("{} of KV lay outside; it loses precision", decimal_bytes(outside)),
           {set("/policy/pack", "away")}});
  }

  const FinishedRun& run_;
  const hw::Scenario scenario_;
  Changes changes_;
};

} // namespace

Changes changes_for(const FinishedRun& run, std::optional<double> links_gain) {
  return Finder(run).find(links_gain);
}

namespace {

/// All reruns of one explanation: counts what there is time for.
class Reruns {
public:
  Reruns(const FinishedRun& run, const ExplainOptions& options) : run_(run), options_(options) {
    base_ = run.request;
    base_.stop = options.stop;
  }

  Explanation all() {
    auto limits =
        limit_variants(base_, by_blame(run_.summary, hw::limits_of(hw::read_scenario(load_scenario(
                                                         base_.scenario, base_.sets)))));
    auto mechanisms = without_variants(base_, {"all"});
    const std::size_t reruns = reruns_within(options_.within_seconds, run_.wall_seconds);
    const Shares fit = shared_out(reruns, limits.size(), mechanisms.size());
    cut(limits, fit.limits, "without the limit of ");
    cut(mechanisms, fit.mechanisms, "without ");
    if (reruns > 0) first(limits, mechanisms);
    changes(mechanisms, fit.tries);
    return std::move(found_);
  }

private:
  void cut(std::vector<Variant>& variants, std::size_t at, const char* what) {
    for (std::size_t i = at; i < variants.size(); ++i)
      found_.not_tried.push_back(what + variants[i].name);
    variants.resize(std::min(at, variants.size()));
  }

  std::vector<VariantResult> results_of(const std::vector<Variant>& variants) const {
    if (variants.empty()) return {};
    if (options_.announce) options_.announce(variants.size());
    return run_variants(variants, options_.summarise, kAtOnce);
  }

  /// The run itself, what no policy passes, and what it lacks nothing but one limit or mechanism
  /// for.
  void first(const std::vector<Variant>& limits, const std::vector<Variant>& mechanisms) {
    std::vector<Variant> variants = {{Variant::Kind::keys, "the run itself", base_},
                                     {Variant::Kind::bound, kBound, base_}};
    variants.insert(variants.end(), limits.begin(), limits.end());
    variants.insert(variants.end(), mechanisms.begin(), mechanisms.end());
    auto results = results_of(variants);
    require_the_same(results.front());
    found_.bound = results[1].summary;
    const auto middle = results.begin() + 2 + static_cast<std::ptrdiff_t>(limits.size());
    found_.limits.assign(results.begin() + 2, middle);
    found_.mechanisms.assign(middle, results.end());
  }

  void require_the_same(const VariantResult& again) const {
    if (!again.summary.is_null() && simulated(again.summary) == simulated(run_.summary)) return;
    throw UserError(again.summary.is_null()
                        ? "the run is refused now: " + again.refusal
                        : fmt::format("the run took {} and takes {} now: umfsim has changed since, "
                                      "expected the same time; replay again",
                                      duration(simulated(run_.summary) * 1e-9),
                                      duration(simulated(again.summary) * 1e-9)));
  }

  std::optional<double> links_gain() const {
    std::optional<double> most;
    for (const auto& limit : found_.limits)
      if ((limit.name == "links" || is_link(limit.name)) && !limit.summary.is_null())
        most = std::max(most.value_or(0), 1 - simulated(limit.summary) / simulated(run_.summary));
    return most;
  }

  void changes(const std::vector<Variant>& mechanisms, std::size_t fit) {
    Changes offered = changes_for(run_, links_gain());
    found_.refused = std::move(offered.refused);
    for (std::size_t i = fit; i < offered.tries.size(); ++i)
      found_.not_tried.push_back(offered.tries[i].name);
    offered.tries.resize(std::min(fit, offered.tries.size()));
    std::vector<Variant> variants;
    for (const Change& change : offered.tries) {
      variants.push_back({Variant::Kind::keys, change.name, base_});
      auto& sets = variants.back().request.sets;
      sets.insert(sets.end(), change.sets.begin(), change.sets.end());
    }
    auto results = results_of(variants);
    for (std::size_t i = 0; i < results.size(); ++i)
      found_.tries.push_back({offered.tries[i], std::move(results[i])});
    leave_out_what_costs(mechanisms);
  }

  /// A mechanism without which the run is shorter is a change too, tried already.
  void leave_out_what_costs(const std::vector<Variant>& mechanisms) {
    for (std::size_t i = 0; i < found_.mechanisms.size(); ++i) {
      const VariantResult& without = found_.mechanisms[i];
      if (without.summary.is_null() ||
          simulated(without.summary) > (1 - kNoDifference) * simulated(run_.summary))
        continue;
      const auto& sets = mechanisms[i].request.sets;
      found_.tries.push_back(
          {{"without " + without.name,
            "it costs more than it brings here",
            {sets.begin() + static_cast<std::ptrdiff_t>(base_.sets.size()), sets.end()}},
           without});
    }
  }

  const FinishedRun& run_;
  const ExplainOptions& options_;
  ReplayRequest base_;
  Explanation found_;
};

} // namespace

Explanation explain(const FinishedRun& run, const ExplainOptions& options) {
  return Reruns(run, options).all();
}

} // namespace umf::app
