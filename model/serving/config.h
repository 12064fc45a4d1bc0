#pragma once

#include "model/base/keys.h"
#include "model/base/units.h"
#include "model/serving/tenants.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umf::serving {

/// Requests that arrive at random instead of from a trace.
struct PoissonConfig {
  Hertz rate{1.0};
  std::uint64_t requests = 1000;
  std::uint32_t prompt = 1024, output = 256;
  double spread = 0.5;
};

/// A class of service: how many requests are of it and what they are promised.
struct ServiceClass {
  std::string name;
  double share = 1.0;
  Femtoseconds ttft{}, tpot{};
  bool operator==(const ServiceClass&) const = default;
};

/// "chat 0.8 2s 50ms": name, share of the requests, time to first token and time per output token
/// that count as kept. Throws a UserError that says what is expected.
ServiceClass parse_class(std::string_view text);

/// Whose request is admitted next among those of the best class that wait.
enum class Fairness : std::uint8_t {
  arrival, ///< the oldest
  tokens   ///< the oldest of the tenant that was served least, by its weight
};

struct Config {
  std::uint32_t block = 512;
  std::uint32_t trace_block = 512;
  std::uint32_t max_batched_tokens = 2048;
  std::uint32_t max_sequences = 256;
  bool prefix_cache = true;
  double watermark = 0.01;
  double hbm_share = 0.9;
  double pool_share = 1.0;
  std::vector<std::string> classes = {"default 1 30s 100ms"};
  bool fold_layers = true;
  std::uint32_t fold_steady = 16;
  double fold_alike = 0.02;
  std::uint32_t check_alike = 200;
  std::vector<std::string> tenants = {"code code 2Hz default 1", "math math 0.5Hz default 1",
                                      "caption caption 2Hz default 1"};
  Femtoseconds tenant_time = 60'000'000'000_ns;
  Fairness fairness = Fairness::arrival;
  Femtoseconds utilisation_window = 1'000'000'000_ns;
  PoissonConfig poisson;

  /// Parsed `classes`, best first.
  std::vector<ServiceClass> service_classes() const;
  /// Parsed `tenants`.
  std::vector<Tenant> parsed_tenants() const;
};

const Component<Config>& component();

/// Faults of values that each are in range.
void check(const Config& config, const std::string& pointer, KeyContext& context);

} // namespace umf::serving

template <>
struct umf::EnumNames<umf::serving::Fairness> {
  static constexpr std::pair<std::string_view, umf::serving::Fairness> list[] = {
      {"arrival", umf::serving::Fairness::arrival}, {"tokens", umf::serving::Fairness::tokens}};
};
