#pragma once

#include "model/base/units.h"
#include "model/memory/address_space.h"
#include "model/memory/frame_allocator.h"
#include "model/memory/packed_store.h"
#include "model/memory/page_table.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Decisions about where pages live. Pure: no SystemC, time is an argument.
namespace umf::policy {

class Future;

using memory::PageNumber;
using memory::TierIndex;

/// Numbers the operations of a run as a Future does.
using StepNumber = std::uint32_t;
inline constexpr StepNumber kNoStep = UINT32_MAX; ///< of nobody, or never

/// What a tier is to a policy. Order in Ground::tiers is the scenario's.
enum class TierClass : std::uint8_t { hbm, sram, pool, host };

/// A tier as one GPU's scheduler sees it; frames of a pool are shared between GPUs.
struct Tier {
  std::string name;
  TierClass kind = TierClass::hbm;
  memory::FrameAllocator* frames = nullptr;
  BytesPerSecond rate = {}; ///< of reads, the slowest of the way there; 0: not known
  /// The way there is bad (S7): what lies there is read, and nothing more is to come.
  bool read_only = false;
  std::uint64_t lent = 0; ///< frames of it that may be taken now all the same, for want of others

  /// A tier out of reach, such as another GPU's HBM, keeps its index but has no frames.
  bool in_reach() const { return frames->frames() > 0; }
};

/// What a policy may look at.
struct Ground {
  Bytes page{};
  std::vector<Tier> tiers;
  memory::Packing packing{};

  /// Bytes of a page of the tensor once it is packed; 0: it is not to be packed.
  std::uint32_t packed_page(const stream::Tensor& tensor) const;

  /// The first tier of a class within reach, or none.
  const Tier* first(TierClass kind) const;
  std::optional<TierIndex> index(TierClass kind) const;
  bool is(TierIndex tier, TierClass kind) const { return tiers[tier].kind == kind; }
  /// That something may be put on: a tier that is read only has none beyond what it lends.
  std::uint64_t free_pages(TierIndex tier) const { return free_pages(tiers[tier]); }
  static std::uint64_t free_pages(const Tier& tier) {
    const std::uint64_t free = tier.frames->free();
    return tier.read_only ? std::min(free, tier.lent) : free;
  }
  /// Of all tiers of a class within reach.
  std::uint64_t free_pages(TierClass kind) const;
  std::uint64_t all_pages(TierClass kind) const;
};

/// Pages that need a home: at the start (weights, in trace order) or at first touch.
struct Need {
  const memory::AddressSpace::Entry* tensor = nullptr;
  std::uint64_t first_page = 0; ///< within the tensor
  std::uint64_t pages = 0;
  bool initial = false;
  bool write = false;      ///< by the access that asks for them
  std::uint64_t until = 0; ///< unified address behind what it asks for
};

/// Consecutive pages of a Need given to a tier, in order.
struct Grant {
  TierIndex tier = 0;
  std::uint64_t pages = 0;
  bool blank = false;  ///< until their first access, which may fault and move them for nothing
  bool packed = false; ///< as Order::packed; what finds no room there packed is not
};

/// An access as it reached the scheduler.
struct Touch {
  const memory::AddressSpace::Entry* tensor = nullptr;
  memory::PageRun pages; ///< one run, in one state
  bool write = false;
  Femtoseconds now{};
  Bytes bytes{};             ///< of the run that the access wants
  StepNumber step = kNoStep; ///< the operation that asks
  std::uint64_t begin = 0;   ///< unified address of the first of them
};

/// What a policy asks the machine to do: move those of the pages that are in tier `from` (any,
/// by default) to `to`. How it ends comes back through Policy::settled.
struct Order {
  enum class Why : std::uint8_t {
    background, ///< a wish, dropped where frames lack or the machine is busy
    prefetch,   ///< the same, before anybody asks for the pages
    room,       ///< makes room for a fill: urgent, never refused by the machine
    fill        ///< answers a fault: urgent, and waits for frames
  };
  PageNumber first = 0;
  std::uint64_t pages = 0;
  TierIndex to = 0;
  Why why = Why::background;
  std::optional<TierIndex> from = {};
  /// The old place stays as a copy until its frames are wanted or the pages are written. A move
  /// back to it copies nothing.
  bool keep = false;
  /// An access that was touched now reads these pages whole: what it reads is written to the new
  /// place as well, and nothing is read for the move alone.
  bool carried = false;
  /// Pages of a KV cache are packed to fewer bits at the new place, with what that loses; others,
  /// and those whose values have no more bits, are moved as they are. Else they are unpacked.
  bool packed = false;
  /// No move: the machine reads so many page-table entries, then calls scanned().
  std::uint64_t scan = 0;
};

/// A move, or a part of it, that is over.
struct Settled {
  memory::PageRun from; ///< where the pages were; their state is meaningless
  TierIndex to = 0;
  bool moved = false; ///< else it was refused or could not begin: the pages are where they were
  Femtoseconds now{};
};

/// What sensors saw in the window that ends now, at one GPU.
struct Sensors {
  Femtoseconds now{}, window{};
  double hbm_utilisation = 0;    ///< bytes moved of what its pins could have moved
  double sram_hit_rate = 0;      ///< bytes served by SRAM of all bytes that tiers served
  double faults_per_s = 0;       ///< pages
  double remote_reads_per_s = 0; ///< pages read or written outside HBM and SRAM
};

/// S8, in pages: what a collector of the pool has sent to the memory below it, and what of that was
/// accessed after all.
struct Collections {
  std::uint64_t runs = 0;    ///< scans of the page table
  std::uint64_t scanned = 0; ///< entries read
  std::uint64_t freed = 0;
  std::uint64_t regret = 0; ///< of those freed: accessed later, once for each time they were freed
  std::uint64_t faults = 0; ///< of those: by an access that found no valid mapping
  Femtoseconds waited{};    ///< from such an access to the arrival of its page, a page each

  Collections& operator+=(const Collections& other);
  bool operator==(const Collections&) const = default;
};

/// S9: what a tuner has seen and where it stands.
struct Tuning {
  std::uint64_t samples = 0; ///< windows of the sensors
  std::uint64_t periods = 0;
  std::uint64_t raised = 0, lowered = 0; ///< the reserve
  std::uint64_t windows = 0;             ///< changes of the prefetch window
  double reserve = 0;                    ///< share of HBM
  std::uint64_t prefetch_window = 0;     ///< rows

  std::uint64_t changes() const { return raised + lowered + windows; }
  bool operator==(const Tuning&) const = default;
};

/// One policy = one .cpp in this folder and one line in registry.cpp.
class Policy {
public:
  virtual ~Policy() = default;

  /// Whether it decides by what is to come: it is then told before anything is placed, where the
  /// future can be known. Without, it still decides.
  virtual bool wants_future() const { return false; }
  virtual void foresee(std::shared_ptr<const Future>) {}

  /// Appends grants that add up to need.pages, or throws UserError naming the tensor,
  /// what it needs and what there is.
  virtual void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) = 0;
  /// Free pages that place() may grant, or fewer: what it needs beyond them, tiers that are read
  /// only lend.
  virtual std::uint64_t room(const Ground& ground) const;

  /// Told of every access to materialised pages; may order moves.
  virtual void touched(const Touch&, const Ground&, std::vector<Order>&) {}

  /// Whether the pages, which lie still, have no valid mapping for this access: it waits until
  /// what resolve() orders is done. Else they are served where they are.
  virtual bool faults(const Touch&, const Ground&) { return false; }
  /// A fault's turn has come: orders fills. Pages of it that no fill covers are mapped where
  /// they are.
  virtual void resolve(const Touch&, const Ground&, std::vector<Order>&) {}
  /// Fills lack `pages` frames in the tier: orders moves out of it, if there can be any.
  virtual void make_room(TierIndex, std::uint64_t, const Ground&, std::vector<Order>&) {}
  /// No room can be made for these pages of a fault: they are mapped where they are from now on.
  virtual void unmet(const memory::PageRun&, const Ground&) {}

  /// How long a window of the sensors is, for a policy that wants to be told of them.
  virtual std::optional<Femtoseconds> sensor_window() const { return std::nullopt; }
  virtual void sensed(const Sensors&, const Ground&, std::vector<Order>&) {}

  /// Whether pages that lie still may lose their mapping. Else faults() has one answer for a run.
  virtual bool unmaps() const { return false; }
  /// How many pages of the run, from the first on, it has the same answer for.
  virtual std::uint64_t alike(const memory::PageRun& run) const { return run.count; }
  /// Page-table entries that were ordered to be read have been.
  virtual void scanned(std::uint64_t, Femtoseconds, const Ground&, std::vector<Order>&) {}
  /// Of a policy that collects, or tunes itself; else null.
  virtual const Collections* collections() const { return nullptr; }
  virtual const Tuning* tuning() const { return nullptr; }

  /// A move is over.
  virtual void settled(const Settled&, const Ground&, std::vector<Order>&) {}
  /// Pages are gone: their tensor dies, or what they held of it has.
  virtual void released(const memory::AddressSpace::Entry&, const memory::PageRun&, const Ground&) {
  }
  /// A tier that was read only is so no more: it has room again.
  virtual void opened(TierIndex, const Ground&) {}
  /// The tensor is dead and the last of its pages gone.
  virtual void died(const memory::AddressSpace::Entry&) {}
};

/// Grants `pages`, which must be free, from the tiers of a class in order.
void grant(const Ground& ground, TierClass kind, std::uint64_t pages, std::vector<Grant>& grants);

/// Pages of a share, rounded up to whole pages; 0.07 of 100 is 7, though the product of doubles
/// is above.
std::uint64_t part_of(std::uint64_t pages, double share);

/// HBM until only `kept` of its pages are free, then the other classes in order, then what was
/// kept; or refusal. Returns how many of the pages, the leading ones, are in HBM.
std::uint64_t place_hbm_first(const Need& need, const Ground& ground, std::uint64_t kept,
                              const std::vector<TierClass>& then, std::vector<Grant>& grants);

/// The refusal every policy gives when memory runs out. `scope` names the tiers counted.
[[noreturn]] void refuse(const Need& need, const Ground& ground, const std::string& scope,
                         std::uint64_t free_pages, std::uint64_t all_pages);

} // namespace umf::policy
