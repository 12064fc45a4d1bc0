#include "model/serving/config.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace umf::serving {

namespace {

constexpr std::string_view kClassForm =
    "a name, a share, a time to first token and a time per output token such as "
    "\"chat 0.8 2s 50ms\"";

const Component<PoissonConfig>& poisson_component() {
  using C = PoissonConfig;
  static const auto keys =
      Component<C>("poisson", "Requests that arrive at random: serve-sim poisson.")
          .key("rate", &C::rate,
               {.help = "Requests a second in the mean; gaps between them are exponential.",
                .min = Hertz{1e-6},
                .max = Hertz{1e6},
                .source = "one a second"})
          .key("requests", &C::requests,
               {.help = "How many arrive.", .min = 1, .max = 100'000'000, .source = "a thousand"})
          .key("prompt", &C::prompt,
               {.help = "Tokens of a prompt in the mean.",
                .min = 1,
                .max = 10'000'000,
                .source = "1024"})
          .key("output", &C::output,
               {.help = "Output tokens in the mean.", .min = 1, .max = 10'000'000, .source = "256"})
          .key("spread", &C::spread,
               {.help = "Of both lengths, which are log-normal: the standard deviation of their "
                        "logarithm; 0: all alike.",
                .min = 0.0,
                .max = 4.0,
                .source = "assumed: lengths within a factor of e either way"});
  return keys;
}

} // namespace

ServiceClass parse_class(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto wrong = [&] {
    return UserError(fmt::format("found the text {}, expected {}", in_quotes(text), kClassForm));
  };
  if (words.size() != 4 || words[0].empty()) throw wrong();
  ServiceClass parsed;
  parsed.name = words[0];
  const char* end = words[1].data() + words[1].size();
  const auto [at, error] = std::from_chars(words[1].data(), end, parsed.share);
  if (error != std::errc{} || at != end || !(parsed.share > 0) || parsed.share > 1) throw wrong();
  parsed.ttft = parse_quantity<Femtoseconds>(words[2]);
  parsed.tpot = parse_quantity<Femtoseconds>(words[3]);
  return parsed;
}

std::vector<ServiceClass> Config::service_classes() const {
  std::vector<ServiceClass> parsed;
  for (const std::string& text : classes)
    parsed.push_back(parse_class(text));
  return parsed;
}

std::vector<Tenant> Config::parsed_tenants() const {
  std::vector<Tenant> parsed;
  for (const std::string& text : tenants)
    parsed.push_back(parse_tenant(text, poisson.spread));
  return parsed;
}

namespace {

std::string tenants_help() {
  std::string help = "Sources of requests of serve-sim tenants: \"code code 2Hz default 1\" is "
                     "name, lengths, requests a second, class of service and weight. Lengths are "
                     "PROMPT/OUTPUT in tokens, log-normal with poisson.spread; trace:FILE, whose "
                     "rate is \"recorded\"; or";
  for (const Mix& mix : mixes())
    help += fmt::format("{} {}, {:.0f}/{:.0f} with spreads {} and {} ({})",
                        mix.name == mixes().front().name ? "" : ";", mix.name, mix.prompt.mean,
                        mix.output.mean, mix.prompt.spread, mix.output.spread, mix.source);
  return help + ".";
}

} // namespace

const Component<Config>& component() {
  using C = Config;
  static const auto keys =
      Component<C>("serving", "How serve-sim batches requests and keeps their KV cache.")
          .key("block", &C::block,
               {.help = "Tokens of a block of KV cache, the unit of allocation and of sharing.",
                .min = 1,
                .max = 65536,
                .source = "the blocks of Mooncake's traces; vLLM's own have 16"})
          .key("trace_block", &C::trace_block,
               {.help = "Tokens of the blocks that a request trace names; a multiple of block.",
                .min = 1,
                .max = 65536,
                .from = Provenance::standard,
                .source = "Mooncake FAST'25 traces: 512"})
          .key("max_batched_tokens", &C::max_batched_tokens,
               {.help = "Tokens of one iteration: a token a decoding sequence, the rest chunks of "
                        "prompts.",
                .min = 1,
                .max = 1'000'000,
                .source = "vLLM's default for chunked prefill"})
          .key("max_sequences", &C::max_sequences,
               {.help = "Sequences that run at a time.",
                .min = 1,
                .max = 100'000,
                .source = "vLLM's default"})
          .key("prefix_cache", &C::prefix_cache,
               {.help = "Whether prompts share computed blocks of equal prefix.",
                .source = "vLLM's default"})
          .key("watermark", &C::watermark,
               {.help = "Share of the blocks that admitting a request leaves to those that run.",
                .min = 0.0,
                .max = 0.5,
                .source = "vLLM's default"})
          .key("hbm_share", &C::hbm_share,
               {.help = "Share of HBM for weights and KV cache; activations have the rest.",
                .min = 0.01,
                .max = 1.0,
                .source = "vLLM's gpu_memory_utilization"})
          .key("pool_share", &C::pool_share,
               {.help = "Share of the pool for what HBM does not hold.",
                .min = 0.0,
                .max = 1.0,
                .source = "all of it"})
          .key("classes", &C::classes,
               {.help = "Classes of service, best first: \"chat 0.8 2s 50ms\" is name, share of "
                        "the requests, and the times to first token and per output token that "
                        "count as kept. Better classes are admitted first and pre-empted last.",
                .source = "one class; limits as Mooncake's paper has them"})
          .key("fold_layers", &C::fold_layers,
               {.help = "Simulate one layer of each kind an iteration, each in its turn, for all: "
                        "equal layers do equal work.",
                .source = "fast; --check-folding prints the error"})
          .key("fold_steady", &C::fold_steady,
               {.help = "Iterations at most that one stands for, while the same sequences decode "
                        "and nothing else happens.",
                .min = 1,
                .max = 4096,
                .source = "16 tokens of thousands: contexts grow by little"})
          .key("fold_alike", &C::fold_alike,
               {.help = "An iteration takes the time of a simulated one whose work is the same to "
                        "within this share of the whole: arithmetic and bytes by kind and by place "
                        "at peak rates. Only where the policy moves nothing. 0: each is simulated.",
                .min = 0.0,
                .max = 0.5,
                .source = "fast; the error is printed, see check_alike"})
          .key("check_alike", &C::check_alike,
               {.help = "Of iterations that fold_alike would fold, one in so many is simulated all "
                        "the same, and the difference reported.",
                .min = 2,
                .max = 1'000'000,
                .source = "a sample of some hundreds an hour of traffic"})
          .key("tenants", &C::tenants,
               {.help = tenants_help(),
                .source = "three unlike tasks, equal weights; rates assumed"})
          .key("tenant_time", &C::tenant_time,
               {.help = "How long requests of tenants that are drawn at random arrive.",
                .min = 1'000'000_ns,
                .max = 7'200'000'000'000_ns,
                .source = "a minute"})
          .key("fairness", &C::fairness,
               {.help =
                    "Who is admitted next among those that wait in the best class. arrival: who "
                    "came first. tokens: the first of the tenant that was served least, each "
                    "prompt token counting 1, each output token 2, divided by its weight; who "
                    "asks for nothing earns nothing.",
                .source = "vLLM's default; tokens is the virtual token counter of Sheng et al., "
                          "Fairness in Serving Large Language Models, OSDI 2024"})
          .key("utilisation_window", &C::utilisation_window,
               {.help = "Windows over which the machine's utilisation is said to vary.",
                .min = 1'000'000_ns,
                .max = 3'600'000'000'000_ns,
                .from = Provenance::standard,
                .source = "NVML samples utilisation over 1/6 s to 1 s"})
          .group("poisson", &C::poisson, poisson_component());
  return keys;
}

namespace {

/// Names tell tenants apart. Classes that the default tenants name need not be there.
void check_tenants(const Config& config, const std::vector<ServiceClass>& classes,
                   const std::string& pointer, KeyContext& context) {
  const auto fault = [&](const std::string& what) {
    context.fault(context.place_of(pointer), what);
  };
  std::vector<Tenant> tenants;
  try {
    tenants = config.parsed_tenants();
  } catch (const UserError& error) {
    return fault(error.what());
  }
  std::set<std::string> names;
  for (const Tenant& tenant : tenants) {
    if (!names.insert(tenant.name).second)
      return fault(
          fmt::format("two tenants are called {}, expected a name each", in_quotes(tenant.name)));
    const bool known = std::any_of(classes.begin(), classes.end(), [&](const ServiceClass& one) {
      return one.name == tenant.service_class;
    });
    if (!known && config.tenants != Config{}.tenants)
      return fault(fmt::format("tenant {} is of class {}, which serving.classes does not have",
                               in_quotes(tenant.name), in_quotes(tenant.service_class)));
  }
}

} // namespace

void check(const Config& config, const std::string& pointer, KeyContext& context) {
  if (config.trace_block % config.block != 0)
    context.fault(context.place_of(pointer + "/block"),
                  fmt::format("{} tokens do not divide a trace's block of {}, expected a divisor",
                              config.block, config.trace_block));
  double shares = 0;
  std::vector<ServiceClass> classes;
  try {
    classes = config.service_classes();
    for (const ServiceClass& one : classes)
      shares += one.share;
  } catch (const UserError& error) {
    context.fault(context.place_of(pointer + "/classes"), error.what());
    return;
  }
  if (std::abs(shares - 1.0) > 1e-9)
    context.fault(context.place_of(pointer + "/classes"),
                  fmt::format("shares that add up to {}, expected 1", shares));
  check_tenants(config, classes, pointer + "/tenants", context);
}

} // namespace umf::serving
