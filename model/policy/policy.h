#pragma once

#include "model/base/units.h"
#include "model/memory/address_space.h"
#include "model/memory/frame_allocator.h"
#include "model/memory/page_table.h"

#include <cstdint>
#include <string>
#include <vector>

/// Decisions about where pages live. Pure: no SystemC, time is an argument.
namespace umf::policy {

using memory::PageNumber;
using memory::TierIndex;

/// What a tier is to a policy. Order in Ground::tiers is the scenario's.
enum class TierClass : std::uint8_t { hbm, sram, pool, host };

/// A tier as one GPU's scheduler sees it; frames of a pool are shared between GPUs.
struct Tier {
  std::string name;
  TierClass kind = TierClass::hbm;
  memory::FrameAllocator* frames = nullptr;
};

/// What a policy may look at.
struct Ground {
  Bytes page{};
  std::vector<Tier> tiers;

  /// The first tier of a class, or none.
  const Tier* first(TierClass kind) const;
  std::uint64_t free_pages(TierIndex tier) const { return tiers[tier].frames->free(); }
  /// Of all tiers of a class.
  std::uint64_t free_pages(TierClass kind) const;
  std::uint64_t all_pages(TierClass kind) const;
};

/// Pages that need a home: at the start (weights, in trace order) or at first touch.
struct Need {
  const memory::AddressSpace::Entry* tensor = nullptr;
  std::uint64_t first_page = 0; ///< within the tensor
  std::uint64_t pages = 0;
  bool initial = false;
};

/// Consecutive pages of a Need given to a tier, in order.
struct Grant {
  TierIndex tier = 0;
  std::uint64_t pages = 0;
};

/// An access as it reached the scheduler.
struct Touch {
  const memory::AddressSpace::Entry* tensor = nullptr;
  memory::PageRun pages; ///< one run, in one state
  bool write = false;
  Femtoseconds now{};
};

/// What a policy asks the machine to do. Refusal and completion come back as events.
struct Order {
  PageNumber first = 0;
  std::uint64_t pages = 0;
  TierIndex to = 0;
};

/// One policy = one .cpp in this folder and one line in registry.cpp.
class Policy {
public:
  virtual ~Policy() = default;

  /// Appends grants that add up to need.pages, or throws UserError naming the tensor,
  /// what it needs and what there is.
  virtual void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) = 0;

  /// Told of every access to materialised pages; may order moves.
  virtual void touched(const Touch&, const Ground&, std::vector<Order>&) {}
};

/// Grants `pages`, which must be free, from the tiers of a class in order.
void grant(const Ground& ground, TierClass kind, std::uint64_t pages, std::vector<Grant>& grants);

/// The refusal every policy gives when memory runs out. `scope` names the tiers counted.
[[noreturn]] void refuse(const Need& need, const Ground& ground, const std::string& scope,
                         std::uint64_t free_pages, std::uint64_t all_pages);

} // namespace umf::policy
