#include "model/serving/tenants.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace umf::serving {

namespace {

constexpr std::string_view kForm =
    "a name, lengths (code, math, caption, PROMPT/OUTPUT or trace:FILE), a rate (recorded for a "
    "trace), a class of service and a weight such as \"code code 0.5Hz default 1\"";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end) return std::nullopt;
  return value;
}

/// False: neither a mix nor two numbers of tokens.
bool read_lengths(std::string_view text, double spread, Tenant& tenant) {
  for (const Mix& mix : mixes())
    if (mix.name == text) {
      tenant.prompt = mix.prompt;
      tenant.output = mix.output;
      return true;
    }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  constexpr std::uint32_t kMost = 10'000'000;
  const auto prompt = number<std::uint32_t>(text.substr(0, slash));
  const auto output = number<std::uint32_t>(text.substr(slash + 1));
  if (!prompt || !output || *prompt == 0 || *output == 0 || *prompt > kMost || *output > kMost)
    return false;
  tenant.prompt = {static_cast<double>(*prompt), spread};
  tenant.output = {static_cast<double>(*output), spread};
  return true;
}

} // namespace

const std::vector<Mix>& mixes() {
  static const std::vector<Mix> list = {
      {"code",
       {2048, 0.8},
       {28, 1.2},
       "Azure's LLM inference trace of 2023, code: 8,819 requests of 2,048 and 27.9 tokens in the "
       "mean; spreads give their medians, 1,469 and 13"},
      {"math",
       {128, 0.5},
       {1024, 0.7},
       "assumed: a problem of some sentences, a chain of thought as answer"},
      {"caption",
       {1288, 0.5},
       {64, 0.4},
       "an image is 576 tokens (LLaVA-1.5: 336 / 14 squared) to 2,880 (LLaVA-NeXT: five of those), "
       "their geometric mean; the answer of a sentence or two is assumed"}};
  return list;
}

Tenant parse_tenant(std::string_view text, double spread) {
  const auto words = words_of(text);
  const auto wrong = [&](const std::string& what = {}) {
    return UserError(fmt::format("found the text {}{}, expected {}", in_quotes(text), what, kForm));
  };
  if (words.size() != 5 ||
      std::any_of(words.begin(), words.end(), [](std::string_view word) { return word.empty(); }))
    throw wrong();
  constexpr std::string_view kTrace = "trace:";
  Tenant tenant;
  tenant.name = words[0];
  tenant.service_class = words[3];
  if (words[1].starts_with(kTrace)) {
    tenant.trace = words[1].substr(kTrace.size());
    if (tenant.trace.empty() || words[2] != "recorded") throw wrong();
  } else {
    if (!read_lengths(words[1], spread, tenant)) throw wrong();
    tenant.rate = parse_quantity<Hertz>(words[2]);
    if (!(tenant.rate.value >= 1e-6 && tenant.rate.value <= 1e6))
      throw wrong(" with a rate outside 1e-6Hz..1e6Hz");
  }
  const auto weight = number<double>(words[4]);
  if (!weight || !(*weight >= 0.001 && *weight <= 1000))
    throw wrong(" with a weight outside 0.001..1000");
  tenant.weight = *weight;
  return tenant;
}

double jain_index(const std::vector<double>& parts) {
  double sum = 0, squares = 0;
  for (const double part : parts) {
    sum += part;
    squares += part * part;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(parts.size()) * squares) : 1.0;
}

} // namespace umf::serving
