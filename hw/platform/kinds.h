#pragma once

#include "hw/dram/media.h"
#include "hw/fabric/media_target.h"
#include "hw/link/path.h"
#include "hw/pcie/link.h"
#include "hw/sram/sram_banks.h"
#include "model/base/keys.h"
#include "model/policy/policy.h"

#include <memory>
#include <span>
#include <string>

namespace umf::hw {

/// A rate that never binds, units a second: a terabyte takes a femtosecond.
inline constexpr double kEndlessRate = 1e27;

/// A tier as the scenario describes it; knows how to make its module.
class TierSpec {
public:
  virtual ~TierSpec() = default;
  std::string name;
  std::string kind;    ///< "hbm", "cxl", ...
  std::string pointer; ///< of its object in the scenario

  virtual policy::TierClass tier_class() const = 0;
  virtual Bytes capacity() const = 0;
  /// One instance for each GPU, beside its die, reached without links.
  virtual bool on_package() const { return false; }
  /// The switch it says it hangs on; empty: does not say.
  virtual std::string behind() const { return {}; }
  /// Media bandwidth asked for, if any, to be held against the links of its path.
  virtual std::optional<BytesPerSecond> asked() const { return std::nullopt; }
  /// What-if: endless bandwidth and no latency of its own, where it is ours to change.
  virtual bool liftable() const { return true; }
  virtual void lift() = 0;
  /// Finds what the scenario names elsewhere, and checks what depends on it.
  virtual void resolve(const dram::Standards&, KeyContext&) {}
  /// The banks behind it, where line resolution plays them; latencies between its port and their
  /// queues, both ways.
  struct Line {
    dram::Media media;
    Femtoseconds port_latency{};  ///< boundary port, not media
    Femtoseconds media_latency{}; ///< boundary media
  };
  virtual std::optional<Line> line() const { return std::nullopt; }
  /// The banks of static memory behind it, their clock, and the way to them or back.
  struct Banks {
    SramBanksConfig config;
    Femtoseconds clock{};
    Femtoseconds one_way{}; ///< boundary port, not media
  };
  virtual std::optional<Banks> banks() const { return std::nullopt; }
  /// Memory that is a rate and a latency, and no banks.
  struct Plain {
    BytesPerSecond bandwidth;
    Femtoseconds latency{}; ///< boundary media
  };
  virtual std::optional<Plain> plain() const { return std::nullopt; }
  /// No more than this passes at burst resolution, reads and writes together.
  virtual BytesPerSecond at_most() const { return {kEndlessRate}; }
  /// Unloaded read at burst resolution (boundary: port).
  virtual Femtoseconds read_latency() const { return {}; }
  virtual std::unique_ptr<MediaTarget> make(const std::string& module, FlowClock& clock,
                                            const std::string& instance) const = 0;
};

struct TierKind {
  const ComponentInfo* info = nullptr; ///< "tier.KIND"
  std::unique_ptr<TierSpec> (*read)(const JsonValue& object, KeyContext& context) = nullptr;
};

/// A link as the scenario describes it.
struct LinkSpec {
  std::string name, pointer, from, to;
  Link::Options options;
  BytesPerSecond read_bound;
  std::uint32_t count = 1;
  /// One of them at line resolution, and what a requester at its upper end keeps to.
  link::AnyLink line;
  link::RequesterConfig requester;
};

struct LinkKind {
  const ComponentInfo* info = nullptr; ///< "link.KIND"
  LinkSpec (*read)(const JsonValue& object, const std::string& name, KeyContext& context) = nullptr;
};

/// The one place that lists kinds: a new tier or link is one line in kinds.cpp.
std::span<const TierKind> tier_kinds();
std::span<const LinkKind> link_kinds();

} // namespace umf::hw
