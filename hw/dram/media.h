#pragma once

#include "hw/dram/service.h"
#include "hw/dram/standard.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

/// The DRAM of a tier as a scenario describes it: a standard, how many stacks or channels of it,
/// how fast, and the controllers in front.
namespace umf::hw::dram {

/// Standards by name: those shipped, and those a scenario's section `dram` adds or changes.
class Standards {
public:
  /// `section`: the object of the section, each member a standard; a member named like a shipped
  /// one changes the keys it gives. Faults go to the context.
  Standards(const JsonValue& section, KeyContext& context);
  Standards() = default;
  /// Null, after a fault at `pointer`, when there is none of this name.
  std::shared_ptr<const DramStandard> find(const std::string& name, const std::string& pointer,
                                           KeyContext& context) const;

private:
  std::map<std::string, std::shared_ptr<const DramStandard>> given_;
};

struct Media {
  std::shared_ptr<const DramStandard> standard;
  std::uint32_t stacks = 1; ///< stacks or channels
  Bytes capacity{};
  std::optional<BytesPerSecond> bandwidth; ///< peak, all stacks; none: the fastest clock's
  ControllerConfig controller;
};

/// The peak of all stacks at the standard's fastest clock.
BytesPerSecond fastest(const Media& media);
/// The peak that the media run at.
BytesPerSecond peak(const Media& media);
/// Clocks are as slow as `bandwidth` asks. A bandwidth beyond the standard's (an override) speeds
/// up all of its timings alike.
DramConfig config(const Media& media);
/// Faults controller settings and mappings that do not fit, at `pointer` and below.
void check_media(const Media& media, const std::string& pointer, KeyContext& context);

} // namespace umf::hw::dram
