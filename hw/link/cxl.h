#pragma once

#include "hw/link/options.h"
#include "model/base/keys.h"

namespace umf::hw::link {

enum class FlitSize : std::uint8_t { b68, b256 };

/// A CXL.mem link, message by message in slots of flits (CXL 2.0, 4.2; 256 B flits of 3.0).
struct CxlConfig {
  std::uint32_t generation = 5, width = 16;
  Femtoseconds latency = 25_ns;
  FlitSize flit = FlitSize::b68;
  std::uint32_t request_credits = 128, data_credits = 128, response_credits = 128;
  std::uint32_t credit_threshold = 16;
  Femtoseconds control_wait = 100_ns;
  std::uint32_t retry_flits = 256;
  double bit_error_rate = 0;
};

const Component<CxlConfig>& cxl_component();
LinkOptions link_options(const CxlConfig& config, std::string name);

} // namespace umf::hw::link

template <>
struct umf::EnumNames<umf::hw::link::FlitSize> {
  static constexpr std::pair<std::string_view, umf::hw::link::FlitSize> list[] = {
      {"68B", umf::hw::link::FlitSize::b68}, {"256B", umf::hw::link::FlitSize::b256}};
};
