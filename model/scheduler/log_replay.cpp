#include "model/scheduler/log_replay.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace umf::scheduler {

namespace {

using Kind = LogEvent::Kind;

std::string text_of(const std::optional<Command>& command) {
  if (!command) return "no command";
  const Command& c = *command;
  if (c.scan > 0) return fmt::format("command {}: scan of {} entries", c.id, c.scan);
  constexpr const char* why[] = {"background", "prefetch", "room", "fill"};
  std::string text = fmt::format(
      "command {}: {} of {} pages from {} in tier {} at {} to tier {} at {}, {} bytes behind {}",
      c.id, c.sync ? "sync" : why[static_cast<std::size_t>(c.why)], c.from.count, c.from.first,
      c.from.tier, c.from.frame, c.to, c.to_frame, c.bytes, c.skip);
  if (c.blank) text += ", blank";
  if (c.back) text += ", back";
  if (c.keep) text += ", keep";
  if (c.carried) text += ", carried";
  if (c.from.packed > 0) text += fmt::format(", from {} bytes a page", c.from.packed);
  if (c.packed > 0) text += fmt::format(", to {} bytes a page", c.packed);
  if (c.sync) text += fmt::format(", ordered at {} fs", c.begun.count);
  return text;
}

std::string text_of(std::uint32_t digest, std::span<const PageRun> runs) {
  std::string text = fmt::format("digest {:08x}", digest);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 3) return text + ", …";
    const PageRun& run = runs[i];
    text += fmt::format("{} {} pages from {} {} in tier {} at {}", i == 0 ? ":" : ",", run.count,
                        run.first, memory::name_of(run.state), run.tier, run.frame);
  }
  return text;
}

/// Brains and what they share, as they were before the first event.
class Brains {
public:
  Brains(const LogReader& log, const LogReplayOptions& options) {
    const LogHeader& header = log.header();
    for (const LogHeader::Tier& tier : header.tiers)
      frames_.emplace_back(tier.frames);
    for (std::uint32_t g = 0; g < header.gpus.size(); ++g) {
      policy::Ground ground{header.page, {}, header.packing};
      for (std::size_t t = 0; t < header.tiers.size(); ++t) {
        const LogHeader::Reach& reach = header.gpus[g].tiers[t];
        ground.tiers.push_back({header.tiers[t].name, header.tiers[t].kind,
                                reach.reached ? &frames_[t] : &none_, reach.rate});
      }
      const std::string& text = header.gpus[g].policy;
      auto policy = options.policy ? options.policy(text, g)
                                   : made(text, fmt::format("{}: policy of GPU {}", log.file(), g));
      gpus_.push_back({std::make_unique<Brain>(std::move(ground), std::move(policy),
                                               header.coherence, header.degrading),
                       {}});
    }
  }

  /// Empty, or the log's answer and the brain's.
  std::string put(const LogEvent& event);

  std::vector<Counters> counters() const {
    std::vector<Counters> counters;
    for (const Gpu& gpu : gpus_)
      counters.push_back(gpu.brain->counters());
    return counters;
  }

private:
  struct Gpu {
    std::unique_ptr<Brain> brain;
    std::vector<Command> active; ///< given and not completed
  };

  static std::unique_ptr<policy::Policy> made(const std::string& text, const std::string& place) {
    const JsonValue object = parse_json(text, place);
    const JsonValue* name = object.is_object() ? object.find(policy::kNameKey) : nullptr;
    const auto kinds = policy::kinds();
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const policy::Kind& k) {
      return name != nullptr && name->is_text() && kind_of(*k.info) == name->text();
    });
    if (kind == kinds.end())
      throw UserError(object.place(), object.found() + ", expected an object with the name of a "
                                                       "policy");
    KeyContext context;
    auto policy = kind->make(object, context);
    context.throw_if_faulty();
    if (policy->wants_future())
      throw UserError(object.place(), "the policy " + in_quotes(name->text()) +
                                          " decides by what is to come, expected one that does "
                                          "not");
    return policy;
  }

  static std::string against(const std::string& says, const std::string& came) {
    return fmt::format("the log says {}, came {}", says, came);
  }
  static std::string flag(bool says, bool came) {
    const auto text = [](bool look) { return look ? "look again" : "nothing to look for"; };
    return says == came ? "" : against(text(says), text(came));
  }

  std::string resolve(Brain& brain, const LogEvent& event);
  std::string give(Gpu& gpu, const LogEvent& event);
  std::string finish(Gpu& gpu, const LogEvent& event);

  std::deque<memory::FrameAllocator> frames_;
  memory::FrameAllocator none_{0};
  std::vector<Gpu> gpus_;
  std::vector<PageRun> runs_;
};

std::string Brains::put(const LogEvent& event) {
  Gpu& gpu = gpus_[event.gpu];
  Brain& brain = *gpu.brain;
  const Access& access = event.access;
  switch (event.kind) {
  case Kind::declare:
    brain.declare(event.declared);
    return {};
  case Kind::preload:
    brain.preload(event.tensor);
    return {};
  case Kind::reserve:
    brain.reserve(access.address, access.length, access.write);
    return {};
  case Kind::release:
    brain.release(event.tensor);
    return {};
  case Kind::touch:
  case Kind::again:
    return resolve(brain, event);
  case Kind::sense:
    brain.sense(event.sensors);
    return {};
  case Kind::link:
    brain.link_changed(event.tier, event.condition, event.now);
    return {};
  case Kind::serve:
    brain.serve_faults(event.pages, event.now);
    return {};
  case Kind::make_room:
    return flag(event.look_again, brain.make_room());
  case Kind::next:
    return give(gpu, event);
  case Kind::refused:
  case Kind::landed:
  case Kind::suspend:
  case Kind::quiesced:
  case Kind::completed:
    return finish(gpu, event);
  case Kind::reclaim: {
    const memory::Range dead = brain.reclaim(access.address, access.length);
    if (dead.begin == event.dead.begin && dead.end == event.dead.end) return {};
    return against(fmt::format("dead from {} to {}", event.dead.begin, event.dead.end),
                   fmt::format("{} to {}", dead.begin, dead.end));
  }
  }
  return {};
}

std::string Brains::resolve(Brain& brain, const LogEvent& event) {
  const Access& access = event.access;
  runs_.clear();
  if (event.kind == Kind::touch)
    brain.touch(access.address, access.length, access.write, access.now, runs_, access.step);
  else
    brain.again(access.address, access.length, access.write, access.now, runs_, access.step);
  const std::uint32_t digest = digest_of(runs_);
  if (digest == event.digest) return {};
  return against(fmt::format("digest {:08x}", event.digest), text_of(digest, runs_));
}

std::string Brains::give(Gpu& gpu, const LogEvent& event) {
  const auto command = event.asked == Asked::any          ? gpu.brain->next_command()
                       : event.asked == Asked::background ? gpu.brain->next_background()
                                                          : gpu.brain->next_carried();
  if (command) gpu.active.push_back(*command);
  if (command.has_value() == event.given && (!command || same(*command, event.command))) return {};
  return against(text_of(event.given ? std::optional(event.command) : std::nullopt),
                 text_of(command));
}

/// Events of a command that the brain gave before.
std::string Brains::finish(Gpu& gpu, const LogEvent& event) {
  const auto it = std::find_if(gpu.active.begin(), gpu.active.end(),
                               [&](const Command& c) { return c.id == event.command.id; });
  ensure(it != gpu.active.end(), "an event of a command that is not in progress");
  const Command command = *it;
  if (event.kind == Kind::refused || event.kind == Kind::completed) gpu.active.erase(it);
  switch (event.kind) {
  case Kind::refused:
    gpu.brain->refused(command, event.now);
    return {};
  case Kind::landed:
    ensure(command.sync, "bytes that land are of no sync");
    return flag(event.look_again, gpu.brain->landed(command));
  case Kind::suspend:
    gpu.brain->suspend(command);
    return {};
  case Kind::quiesced:
    gpu.brain->quiesced(command, event.now);
    return {};
  default:
    gpu.brain->completed(command);
    return {};
  }
}

/// A brain that cannot do what the log says decides otherwise, too.
std::string put(Brains& brains, const LogEvent& event) {
  try {
    return brains.put(event);
  } catch (const InvariantError& error) {
    return std::string("it is refused here: ") + error.what();
  } catch (const UserError& error) {
    return std::string("it is refused here: ") + error.what();
  }
}

std::string what_of(const LogEvent& event) {
  switch (event.kind) {
  case Kind::declare:
    return fmt::format("declare of tensor {}", event.declared.id);
  case Kind::preload:
  case Kind::release:
    return fmt::format("{} of tensor {}", name_of(event.kind), event.tensor);
  case Kind::reserve:
  case Kind::touch:
  case Kind::again:
    return fmt::format("{} of {} bytes {} {:#x}", name_of(event.kind), event.access.length.count,
                       event.access.write ? "written to" : "read from", event.access.address);
  case Kind::link:
    return fmt::format("the way to tier {} at {} of its rate, errors {}", event.tier,
                       event.condition.rate, event.condition.errors);
  case Kind::reclaim:
    return fmt::format("reclaim of {} bytes from {:#x}", event.access.length.count,
                       event.access.address);
  case Kind::refused:
  case Kind::landed:
  case Kind::suspend:
  case Kind::quiesced:
  case Kind::completed:
    return fmt::format("{} of command {}", name_of(event.kind), event.command.id);
  default:
    return std::string(name_of(event.kind));
  }
}

Brains brains_of(const LogReader& log, const LogReplayOptions& options) {
  try {
    return Brains(log, options);
  } catch (const InvariantError& error) {
    throw UserError(Place{log.file(), 0, 0, {}, 0},
                    fmt::format("{}, expected a header that brains can be made of", error.what()));
  }
}

} // namespace

LogResult replay_log(LogReader& log, const LogReplayOptions& options) {
  constexpr std::uint64_t kAskEvery = 1 << 16;
  Brains brains = brains_of(log, options);
  LogResult result;
  for (LogEvent event; log.next(event);) {
    result.difference = put(brains, event);
    result.end = event.now;
    if (!result.difference.empty()) {
      result.difference =
          fmt::format("record {} (byte {}, {} fs, GPU {}), {}: {}", event.number, event.at,
                      event.now.count, event.gpu, what_of(event), result.difference);
      break;
    }
    ++result.events;
    result.commands += event.kind == Kind::next && event.given;
    if (options.stop && event.number % kAskEvery == 0 && options.stop()) break;
  }
  result.counters = brains.counters();
  return result;
}

} // namespace umf::scheduler
