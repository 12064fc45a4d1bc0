#include "app/run/variants.h"

#include "app/run/trace_source.h"
#include "hw/platform/limits.h"
#include "model/base/error.h"
#include "model/base/nearest.h"
#include "model/policy/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;
using Summarise = std::function<Json(const ReplayRun&)>;

/// What a child sends: one letter for how it ended, then the text.
enum class Sent : char { summary = 's', refusal = 'r', interrupted = 'i', broken = 'b' };

struct Child {
  pid_t pid = -1;
  int from = -1; ///< read end of its pipe
};

[[noreturn]] void cannot(const char* what) {
  throw std::runtime_error(std::string("a run in a process of its own: ") + what + ": " +
                           std::strerror(errno));
}

void send(int to, Sent how, const std::string& text) {
  const std::string all = static_cast<char>(how) + text;
  for (std::size_t at = 0; at < all.size();) {
    const auto wrote = write(to, all.data() + at, all.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return; // the parent is gone
    at += static_cast<std::size_t>(wrote);
  }
}

/// In the child: the whole of its life.
void live(const Variant& variant, const Summarise& summarise, int to) {
  try {
    // MessagePack keeps exact times (see exact_ns), which JSON text read back would round.
    const auto packed = Json::to_msgpack(summarise(run_replay(variant.request)));
    send(to, Sent::summary, {packed.begin(), packed.end()});
  } catch (const UserError& error) {
    send(to, Sent::refusal, error.what());
  } catch (const Interrupted&) {
    send(to, Sent::interrupted, {});
  } catch (const std::exception& error) {
    send(to, Sent::broken, error.what());
  }
}

Child start(const Variant& variant, const Summarise& summarise) {
  int ends[2];
  if (pipe(ends) != 0) cannot("no pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) cannot("no process");
  if (pid == 0) {
    close(ends[0]);
    live(variant, summarise, ends[1]);
    // No destructors: what this process inherited belongs to its parent.
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

std::string drain(const Child& child) {
  std::string text;
  char part[1 << 16];
  for (;;) {
    const auto got = read(child.from, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  close(child.from);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

VariantResult result_of(const Variant& variant, const std::string& sent) {
  VariantResult result{variant.kind, variant.name, nullptr, {}};
  const std::string text = sent.empty() ? "" : sent.substr(1);
  switch (sent.empty() ? Sent::broken : static_cast<Sent>(sent.front())) {
  case Sent::summary:
    result.summary = Json::from_msgpack(text);
    break;
  case Sent::refusal:
    result.refusal = text;
    break;
  case Sent::interrupted:
    throw Interrupted{};
  case Sent::broken:
    throw std::runtime_error("the run of " + variant.name +
                             (text.empty() ? " ended without an answer" : ": " + text));
  }
  return result;
}

} // namespace

std::vector<Variant> policy_variants(const ReplayRequest& base,
                                     const std::vector<std::string>& names) {
  const auto scenario = hw::read_scenario(load_scenario(base.scenario, base.sets));
  std::vector<std::string> known;
  for (const auto& kind : policy::kinds())
    known.emplace_back(kind_of(*kind.info));
  std::vector<std::string> chosen;
  const auto choose = [&](const std::string& name) {
    const bool again = std::find(chosen.begin(), chosen.end(), name) != chosen.end();
    if (!again && name != scenario.policy) chosen.push_back(name);
  };
  for (const auto& name : names) {
    if (name == "all") {
      std::for_each(known.begin(), known.end(), choose);
      continue;
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UserError(fmt::format("--against: no policy {}, expected all or one of {}{}",
                                  in_quotes(name), fmt::join(known, ", "), near_hint(name, known)));
    choose(name);
  }
  std::vector<Variant> variants;
  for (const auto& name : chosen) {
    variants.push_back({Variant::Kind::policy, name, base});
    // Last: it replaces the policy and whatever was set of its keys.
    variants.back().request.sets.push_back("/policy={\"name\":" + in_quotes(name) + "}");
    variants.back().request.progress = nullptr;
  }
  return variants;
}

std::vector<Variant> limit_variants(const ReplayRequest& base,
                                    const std::vector<std::string>& names) {
  auto scenario = hw::read_scenario(load_scenario(base.scenario, base.sets));
  const auto limits = hw::limits_of(scenario);
  std::vector<std::string> chosen;
  for (const auto& name : names) {
    if (name == "all") {
      chosen.insert(chosen.end(), limits.begin(), limits.end());
    } else {
      hw::lift(scenario, name); // or says what is wrong with it
      chosen.push_back(name);
    }
  }
  std::vector<Variant> variants;
  for (const auto& name : chosen) {
    variants.push_back({Variant::Kind::ideal, name, base});
    variants.back().request.ideal = name;
    variants.back().request.progress = nullptr;
  }
  return variants;
}

std::vector<VariantResult> run_variants(const std::vector<Variant>& variants,
                                        const Summarise& summarise) {
  const std::size_t at_once = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Child> children;
  std::vector<std::string> sent;
  // Children write more than a pipe holds only at their end, so waiting in order loses little.
  for (std::size_t done = 0; done < variants.size(); ++done) {
    while (children.size() < variants.size() && children.size() < done + at_once)
      children.push_back(start(variants[children.size()], summarise));
    sent.push_back(drain(children[done]));
  }
  std::vector<VariantResult> results;
  for (std::size_t i = 0; i < variants.size(); ++i)
    results.push_back(result_of(variants[i], sent[i]));
  return results;
}

} // namespace umf::app
