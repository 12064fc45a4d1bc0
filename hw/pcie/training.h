#pragma once

#include "hw/pcie/link.h"
#include "model/base/keys.h"
#include "model/base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umf::hw {

/// A link that changes its speed or width while it runs (PCIe base specification 4.2.6, Recovery),
/// or has errors for a while.
struct LinkTraining {
  Femtoseconds at;
  std::uint32_t generation = 0, width = 0; ///< 0: unchanged
  double errors = 0;                       ///< share of packets that arrive wrong
  Femtoseconds lasts{};                    ///< the errors
  bool operator==(const LinkTraining&) const = default;
};

/// "2ms gen4 x8": from 2 ms on with Gen4's rate on eight lanes; "3ms errors 1e-3 for 2ms": one
/// packet in a thousand arrives wrong from 3 to 5 ms. Throws a UserError that says what is
/// expected.
LinkTraining parse_training(std::string_view text);

/// What go-back-N leaves of a rate. A packet that arrives wrong costs its own time and that of all
/// sent until the NAK is back, so that with `trip`, this round trip in packets, one that arrives
/// takes 1 + p / (1 - p) × (1 + trip) of them: (1 - p) / (1 + p × trip). hw/link plays it packet by
/// packet; the formula is Bertsekas and Gallager's, Data Networks, 2.4.
double replay_share(double errors, double trip);

struct LinkTrainingConfig {
  std::vector<std::string> changes;
  Femtoseconds recovery = 20000_ns;
};
const Component<LinkTrainingConfig>& link_training_component();

/// Lets a link of this generation and width change as the group at `pointer` says; what is out of
/// order or more than the link has is a fault.
void add_changes(Link::Options& options, const LinkTrainingConfig& config, std::uint32_t generation,
                 std::uint32_t width, const std::string& pointer, KeyContext& context);

} // namespace umf::hw
