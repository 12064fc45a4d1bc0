#pragma once

#include "hw/dram/controller.h"
#include "hw/link/options.h"
#include "model/base/keys.h"

/// What stands at the ends of links and between them, as keys.
namespace umf::hw::link {

struct TranslationConfig {
  std::uint32_t entries = 0;
  Bytes page{4096};
  Femtoseconds hit_latency{}, walk_latency = 300_ns;
  std::uint32_t walkers = 8;
};

struct RequesterConfig {
  Bytes max_payload{256}, max_read_request{512};
  Bytes write_boundary{0};
  std::uint32_t read_tags = 768, write_tags = 0;
  std::optional<Hertz> read_rate, write_rate;
  Femtoseconds latency{};
  bool relaxed_ordering = false;
  Bytes link_interleave{4096};
  TranslationConfig translation;
};

struct SwitchConfig {
  Femtoseconds latency = 105_ns;
  Arbitration arbitration = Arbitration::round_robin;
  std::vector<std::uint32_t> weights;
  bool acs_redirect = false;
  std::optional<BytesPerSecond> rc_p2p_limit;
  TranslationConfig iommu;
};

struct MemoryConfig {
  Bytes max_payload{256}, completion_boundary{64};
  Femtoseconds latency = 90_ns;
  std::optional<BytesPerSecond> bandwidth;
  std::uint32_t queue = 256;
  std::optional<std::string> media;
  std::uint32_t channels = 1;
  dram::ControllerConfig controller{
      .refresh = dram::RefreshMode::all_bank, .postpone = 0, .stagger = false};
  std::uint32_t cache_lines = 0;
  Femtoseconds cache_latency = 40_ns;
};

const Component<RequesterConfig>& requester_component();
const Component<SwitchConfig>& switch_component();
const Component<MemoryConfig>& memory_component();

RequesterOptions requester_options(const RequesterConfig& config);
ForwardOptions forward_options(const SwitchConfig& config);
/// `media` is a shipped standard of hw/dram at its fastest clock; throws UserError for another.
MemoryOptions memory_options(const MemoryConfig& config);

} // namespace umf::hw::link

template <>
struct umf::EnumNames<umf::hw::link::Arbitration> {
  static constexpr std::pair<std::string_view, umf::hw::link::Arbitration> list[] = {
      {"round_robin", umf::hw::link::Arbitration::round_robin},
      {"weighted", umf::hw::link::Arbitration::weighted}};
};
