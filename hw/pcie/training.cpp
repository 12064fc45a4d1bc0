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

constexpr std::string_view kExpected = "a time, a generation and a width such as \"2ms gen4 x8\"";

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

LinkTraining parse_training(std::string_view text) {
  std::string_view rest = text;
  const std::string_view time = next_word(rest), generation = next_word(rest),
                         width = next_word(rest);
  const LinkTraining training{{}, number_after("gen", generation), number_after("x", width)};
  if (training.generation == 0 || training.width == 0 || !rest.empty() || text.ends_with(' '))
    throw UserError(fmt::format("found the text {}, expected {}", in_quotes(text), kExpected));
  return {parse_quantity<Femtoseconds>(time), training.generation, training.width};
}

const Component<LinkTrainingConfig>& link_training_component() {
  using C = LinkTrainingConfig;
  static const auto keys =
      Component<C>("training", "Changes of a link's speed or width in mid-run.")
          .key("changes", &C::changes,
               {.help =
                    "\"2ms gen4 x8\": from 2 ms on with Gen4's rate on eight lanes; in order of "
                    "time. Down-training and back.",
                .source = "none: the link keeps its speed and width"})
          .key("recovery", &C::recovery, link::recovery_key());
  return keys;
}

void add_changes(Link::Options& options, const LinkTrainingConfig& config, std::uint32_t generation,
                 std::uint32_t width, const std::string& pointer, KeyContext& context) {
  const double per_raw = options.raw_bytes_per_second / link::tlp_rate(generation, width).value;
  const auto fault = [&](const std::string& message) {
    context.fault(context.place_of(pointer + "/changes"), message);
  };
  options.recovery = config.recovery;
  Femtoseconds last{-1};
  for (const std::string& text : config.changes) {
    try {
      const LinkTraining next = parse_training(text);
      if (next.at <= last)
        fault(fmt::format("{} does not come after the one before it, expected times that rise",
                          in_quotes(text)));
      if (next.generation > generation || next.width > width)
        fault(fmt::format("{} is more than the link has, expected at most gen{} x{}",
                          in_quotes(text), generation, width));
      else
        options.changes.push_back(
            {next.at, per_raw * link::tlp_rate(next.generation, next.width).value});
      last = next.at;
    } catch (const UserError& error) {
      fault(error.what());
    }
  }
}

} // namespace umf::hw
