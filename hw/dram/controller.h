#pragma once

#include "hw/dram/timings.h"
#include "model/base/keys.h"

#include <optional>
#include <string>
#include <vector>

/// How the memory controller in front of one unit (pseudo-channel, sub-channel) behaves.
namespace umf::hw::dram {

enum class PagePolicy : std::uint8_t { open, closed, timeout };
/// per_bank: one bank of a rank at a time (HBM REFpb), or one bank of every group (DDR5 REFsb).
enum class RefreshMode : std::uint8_t { none, all_bank, per_bank };

struct ControllerConfig {
  std::uint32_t read_queue = 64, write_queue = 64; ///< requests of a unit
  std::uint32_t write_high = 48, write_low = 16;   ///< writes that begin and end a drain
  /// A request that has waited longer goes before younger row hits of its bank and of other ranks;
  /// a write that has begins a drain, a read ends one.
  Femtoseconds age_cap = 2000_ns;
  PagePolicy page = PagePolicy::open;
  Femtoseconds page_timeout = 200_ns; ///< with PagePolicy::timeout: after the last access
  RefreshMode refresh = RefreshMode::per_bank;
  std::uint32_t postpone = 4; ///< refreshes of a rank that may be owed while requests wait
  bool stagger = true;        ///< refreshes of the units are spread over their interval
  std::vector<std::string> mapping = {"row", "rank", "bank", "column", "group", "unit"};
  /// "target^source>>shift"; nothing: bank_hash() once dram_config() knows the banks.
  std::optional<std::vector<std::string>> hash{};
  Bytes interleave{256}; ///< of consecutive addresses over stacks (HBM) or channels
};

const Component<ControllerConfig>& controller_component();

/// Faults at `pointer`: a drain that begins above the queue, or ends where it begins. The fields
/// of `mapping` and `hash` are AddressMap's to check, which knows how many bits each has.
void check_controller(const ControllerConfig& config, const std::string& pointer,
                      KeyContext& context);

} // namespace umf::hw::dram
