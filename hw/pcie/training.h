#pragma once

#include "hw/pcie/link.h"
#include "model/base/keys.h"
#include "model/base/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace umf::hw {

/// A link that changes its speed or width while it runs (PCIe base specification 4.2.6, Recovery).
struct LinkTraining {
  Femtoseconds at;
  std::uint32_t generation = 0, width = 0;
  bool operator==(const LinkTraining&) const = default;
};

/// "2ms gen4 x8": from 2 ms on with Gen4's rate on eight lanes. Throws a UserError that says what
/// is expected.
LinkTraining parse_training(std::string_view text);

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
