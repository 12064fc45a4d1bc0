#include "hw/pcie/training.h"

#include "hw/link/generation.h"
#include "hw/link/link_keys.h"
#include "hw/pcie/pcie.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace umf::hw {

namespace {

constexpr std::string_view kExpected =
    "a time, a generation and a width such as \"2ms gen4 x8\", or errors, their share of packets "
    "(at most 0.5) and how long, such as \"3ms errors 1e-3 for 2ms\"";
constexpr double kMostErrors = 0.5;

std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

/// 0: the word is not `prefix` and a whole number of at most two digits.
std::uint32_t number_after(std::string_view prefix, std::string_view word) {
  std::uint32_t number = 0;
  if (!word.starts_with(prefix) || word.size() > prefix.size() + 2) return 0;
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + prefix.size(), end, number);
  return error == std::errc{} && at == end ? number : 0;
}

} // namespace

double replay_share(double errors, double trip) {
  return (1 - errors) / (1 + errors * trip);
}

LinkTraining parse_training(std::string_view text) {
  std::string_view rest = text;
  const std::string_view time = next_word(rest), what = next_word(rest), much = next_word(rest);
  const auto refuse = [&] {
    throw UserError(fmt::format("found the text {}, expected {}", in_quotes(text), kExpected));
  };
  if (text.ends_with(' ')) refuse();
  LinkTraining training;
  if (what == "errors") {
    const std::string_view words = next_word(rest), lasts = next_word(rest);
    const auto [at, error] =
        std::from_chars(much.data(), much.data() + much.size(), training.errors);
    const bool share = error == std::errc{} && at == much.data() + much.size() &&
                       training.errors > 0 && training.errors <= kMostErrors;
    if (!share || words != "for" || lasts.empty() || !rest.empty()) refuse();
    training.lasts = parse_quantity<Femtoseconds>(lasts);
    if (training.lasts.count <= 0) refuse();
  } else {
    training.generation = number_after("gen", what);
    training.width = number_after("x", much);
    if (training.generation == 0 || training.width == 0 || !rest.empty()) refuse();
  }
  training.at = parse_quantity<Femtoseconds>(time);
  return training;
}

const Component<LinkTrainingConfig>& link_training_component() {
  using C = LinkTrainingConfig;
  static const auto keys =
      Component<C>("training",
                   "A link's bad days: changes of its speed or width in mid-run, errors.")
          .key("changes", &C::changes,
               {.help =
                    "\"2ms gen4 x8\": from 2 ms on with Gen4's rate on eight lanes; \"3ms errors "
                    "1e-3 for 2ms\": that share of packets arrives wrong and is sent again. In "
                    "order of time.",
                .source = "none: the link keeps its speed and width"})
          .key("recovery", &C::recovery, link::recovery_key());
  return keys;
}

namespace {

/// Two lists, each in order: what the link was trained to, and when it had errors, into one.
std::vector<Link::Options::Change> merged(const std::vector<Link::Options::Change>& trained,
                                          const std::vector<LinkTraining>& errors,
                                          const Link::Options& link) {
  std::vector<Femtoseconds> borders;
  for (const auto& change : trained)
    borders.push_back(change.at);
  for (const LinkTraining& burst : errors) {
    borders.push_back(burst.at);
    borders.push_back(burst.at + burst.lasts);
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<Link::Options::Change> all;
  double raw = link.raw_bytes_per_second;
  for (const Femtoseconds at : borders) {
    const auto step = std::find_if(trained.begin(), trained.end(),
                                   [&](const auto& change) { return change.at == at; });
    const auto burst = std::find_if(errors.begin(), errors.end(), [&](const LinkTraining& e) {
      return e.at <= at && at < e.at + e.lasts;
    });
    if (step != trained.end()) raw = step->raw_bytes_per_second;
    const double share = burst == errors.end() ? 0 : burst->errors;
    const double trip = 2 * link.one_way.seconds() * raw / link.packet_bytes;
    all.push_back({at, raw * replay_share(share, trip), share, step != trained.end()});
  }
  return all;
}

} // namespace

void add_changes(Link::Options& options, const LinkTrainingConfig& config, std::uint32_t generation,
                 std::uint32_t width, const std::string& pointer, KeyContext& context) {
  const double per_raw = options.raw_bytes_per_second / link::tlp_rate(generation, width).value;
  const auto fault = [&](const std::string& message) {
    context.fault(context.place_of(pointer + "/changes"), message);
  };
  options.recovery = config.recovery;
  Femtoseconds last{-1}, good{0};
  std::vector<Link::Options::Change> trained;
  std::vector<LinkTraining> errors;
  for (const std::string& text : config.changes) {
    try {
      const LinkTraining next = parse_training(text);
      if (next.at <= last)
        fault(fmt::format("{} does not come after the one before it, expected times that rise",
                          in_quotes(text)));
      last = next.at;
      if (next.generation > generation || next.width > width)
        fault(fmt::format("{} is more than the link has, expected at most gen{} x{}",
                          in_quotes(text), generation, width));
      else if (next.errors == 0)
        trained.push_back({next.at, per_raw * link::tlp_rate(next.generation, next.width).value});
      else if (next.at < good)
        fault(fmt::format("{} begins before the errors before it end, expected it later",
                          in_quotes(text)));
      else
        errors.push_back(next);
      if (next.errors > 0) good = next.at + next.lasts;
    } catch (const UserError& error) {
      fault(error.what());
    }
  }
  options.changes = merged(trained, errors, options);
}

} // namespace umf::hw
