#pragma once

#include "model/base/random.h"
#include "model/scheduler/brain.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace umf::test {

inline constexpr Bytes kPage = 64_KiB;

/// Places pages anywhere and orders moves of anything to anywhere, now and then.
class RestlessPolicy : public policy::Policy {
public:
  /// `packs`: half of what it places and orders packed, where that can be.
  explicit RestlessPolicy(std::uint64_t seed, bool packs = false)
      : random_(seed, "restless policy"), packs_(packs) {}
  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override;
  void touched(const policy::Touch& touch, const policy::Ground& ground,
               std::vector<policy::Order>& orders) override;

private:
  RandomStream random_;
  bool packs_;
};

/// What a page or a frame holds: a version number for each of its halves.
using Halves = std::array<std::uint64_t, 2>;

/// The machine's side of the handshake on a memory of two version numbers a frame. What
/// happens next is drawn at random: accesses take their time, copies go half a page at a time,
/// commands wait between any two of their events. From time to time it is out of order for a while:
/// the link is lost (nothing is copied), all that may be refused is, or ranges do not get quiet
/// until the queue of who waits is full. Throws std::logic_error where a read returns anything but
/// what the page held at one moment between its begin and its end.
class ReferenceMachine {
public:
  /// Without a policy: a RestlessPolicy, on tiers of 40 frames.
  explicit ReferenceMachine(std::uint64_t seed, std::unique_ptr<policy::Policy> policy = nullptr,
                            std::vector<std::uint64_t> frames = {40, 40, 40},
                            scheduler::Coherence coherence = {});

  /// What its brain knows of bad ways; they come where they are asked for.
  static constexpr scheduler::Degrading kDegrading{0.6, 0.9, 50000_ns, 1e-3};
  /// From now on the way to the pool is bad at random times: slow, with errors, hot.
  void shake_link() { shaken_ = true; }

  void tap(scheduler::Tap* tap) { brain_->tap(tap); }
  void step();  ///< one random thing happens
  void drain(); ///< everything in flight ends, no new commands are taken up
  void release_all();

  /// Frames counted by the allocators, by the table with the commands, and page by page.
  void check_ownership() const;
  std::uint64_t used(policy::TierIndex tier) const { return tiers_[tier].frames.used(); }
  std::uint64_t moves() const { return moves_done_; }
  std::uint64_t refusals() const { return refusals_; }
  std::uint64_t parked() const { return parked_ever_; }
  std::uint64_t forwarded() const { return forwarded_; } ///< reads of the staging buffer
  std::uint64_t pages_reclaimed() const { return pages_reclaimed_; } ///< that had frames
  const scheduler::Brain& brain() const { return *brain_; }
  std::uint64_t check_every_page() const; ///< pages compared
  std::uint64_t full_queues() const { return full_queues_; }
  std::uint64_t raced() const { return raced_; } ///< writes that met a move of their page
  std::uint64_t in_use() const { return in_flight_.size() + parked_.size() + moves_.size(); }

private:
  using Page = memory::PageNumber;
  struct Place {
    policy::TierIndex tier = 0;
    std::uint64_t frame = 0;
    std::uint32_t packed = 0;

    std::tuple<policy::TierIndex, bool, std::uint64_t> key() const {
      return {tier, packed > 0, frame};
    }
  };
  static Place place_of(const memory::PageRun& run, Page page);
  struct Access {
    Page page = 0;
    bool write = false;
    std::array<bool, 2> halves = {}; ///< wanted
    Place place{};                   ///< once started
    std::size_t since = 0;           ///< in the page's history, likewise
  };
  struct Move {
    scheduler::Command command;
    std::uint64_t copied = 0; ///< halves
    enum class Stage { copying, suspended, switched } stage = Stage::copying;
  };
  enum class Trouble { none, link_lost, all_refused, never_quiet };
  struct Tier {
    memory::FrameAllocator frames;
    std::vector<Halves> content;
    std::map<std::uint64_t, Halves> packed; ///< by address
  };

  void change_trouble();
  void change_link();
  void check_read_only();
  bool held_up(const Move& move) const;
  void declare();
  void release(std::size_t tensor);
  void reclaim();
  void access();
  void dispatch(const Access& access, const memory::PageRun& run);
  void finish_access(std::size_t index);
  void retry_parked();
  void serve_faults();
  void take_command();
  void advance(std::size_t move);
  bool in_flight(const memory::PageRun& range, bool only_writes) const;
  bool reads_at(const scheduler::Command& sync) const;
  bool is_staging(Place place) const;
  static std::pair<std::uint64_t, Bytes> range_of(const Access& access);
  void copy_half(Move& move);
  bool outstanding(Page first, std::uint64_t pages) const;
  static constexpr std::size_t kUnits = 8; ///< of a page, that die one by one
  using Units = std::bitset<kUnits>;
  /// Those that hold bytes of the tensor.
  static Units units_of(const memory::AddressSpace::Entry& entry, Page page);
  bool is_dead(const memory::AddressSpace::Entry& entry, Page page) const;
  std::uint64_t holes() const;
  Halves& content(Place place);
  Halves& content(const memory::PageRun& run, Page page) { return content(place_of(run, page)); }

  RandomStream random_;
  bool fills_ = false; ///< the policy may order fills
  std::deque<Tier> tiers_;
  std::unique_ptr<scheduler::Brain> brain_;
  std::vector<stream::TensorId> tensors_;
  std::map<Page, std::vector<Halves>> truth_; ///< all they ever held, of pages that exist
  std::map<Page, Units> dead_;                ///< of live tensors
  std::vector<Access> in_flight_, parked_;
  std::vector<Move> moves_;
  Trouble trouble_ = Trouble::none;
  std::uint64_t trouble_ends_ = 0, steps_ = 0;
  bool commands_pending_ = false; ///< the brain may hold commands not taken up
  stream::TensorId next_tensor_ = 0;
  Femtoseconds now_{0};
  std::uint64_t version_ = 1, moves_done_ = 0, refusals_ = 0, parked_ever_ = 0, forwarded_ = 0,
                full_queues_ = 0, raced_ = 0;
  std::uint64_t pages_reclaimed_ = 0;
  bool shaken_ = false;
  bool read_only_ = false; ///< at the last check, and what the pool may hold since
  std::uint64_t most_ = 0;
};

} // namespace umf::test
