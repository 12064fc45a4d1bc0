#pragma once

#include "model/base/random.h"
#include "model/scheduler/brain.h"

#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace umf::test {

inline constexpr Bytes kPage = 64_KiB;

/// Places pages anywhere and orders moves of anything to anywhere, now and then.
class RestlessPolicy : public policy::Policy {
public:
  explicit RestlessPolicy(std::uint64_t seed) : random_(seed, "restless policy") {}
  void place(const policy::Need& need, const policy::Ground& ground,
             std::vector<policy::Grant>& grants) override;
  void touched(const policy::Touch& touch, const policy::Ground& ground,
               std::vector<policy::Order>& orders) override;

private:
  RandomStream random_;
};

/// The machine's side of the handshake on a memory of one version number a frame. What
/// happens next is drawn at random: accesses take their time, copies go page by page,
/// commands wait between any two of their events. Throws std::logic_error where a read
/// returns anything but the page's last written version.
class ReferenceMachine {
public:
  /// Without a policy: a RestlessPolicy, on tiers of 40 frames.
  explicit ReferenceMachine(std::uint64_t seed, std::unique_ptr<policy::Policy> policy = nullptr,
                            std::vector<std::uint64_t> frames = {40, 40, 40});

  void step();  ///< one random thing happens
  void drain(); ///< everything in flight ends, no new commands are taken up
  void release_all();

  /// Frames counted by the allocators, by the table with the commands, and page by page.
  void check_ownership() const;
  std::uint64_t used(policy::TierIndex tier) const { return tiers_[tier].frames.used(); }
  std::uint64_t moves() const { return moves_done_; }
  std::uint64_t refusals() const { return refusals_; }
  std::uint64_t parked() const { return parked_ever_; }
  std::uint64_t pages_reclaimed() const { return pages_reclaimed_; } ///< that had frames
  const scheduler::Brain& brain() const { return *brain_; }
  std::uint64_t check_every_page() const; ///< pages compared
  std::uint64_t in_use() const { return in_flight_.size() + parked_.size() + moves_.size(); }

private:
  using Page = memory::PageNumber;
  struct Place {
    policy::TierIndex tier = 0;
    std::uint64_t frame = 0;
  };
  struct Access {
    Page page = 0;
    bool write = false;
    Place place{}; ///< once started
  };
  struct Move {
    scheduler::Command command;
    std::uint64_t copied = 0;
    enum class Stage { copying, suspended, switched } stage = Stage::copying;
  };
  struct Tier {
    memory::FrameAllocator frames;
    std::vector<std::uint64_t> content;
  };

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
  bool outstanding(Page first, std::uint64_t pages) const;
  static constexpr std::size_t kUnits = 8; ///< of a page, that die one by one
  using Units = std::bitset<kUnits>;
  /// Those that hold bytes of the tensor.
  static Units units_of(const memory::AddressSpace::Entry& entry, Page page);
  bool is_dead(const memory::AddressSpace::Entry& entry, Page page) const;
  std::uint64_t holes() const;
  std::uint64_t& content(Place place) { return tiers_[place.tier].content[place.frame]; }

  RandomStream random_;
  bool fills_ = false; ///< the policy may order fills
  std::deque<Tier> tiers_;
  std::unique_ptr<scheduler::Brain> brain_;
  std::vector<stream::TensorId> tensors_;
  std::map<Page, std::uint64_t> truth_; ///< last version written, of pages that exist
  std::map<Page, Units> dead_;          ///< of live tensors
  std::vector<Access> in_flight_, parked_;
  std::vector<Move> moves_;
  bool commands_pending_ = false; ///< the brain may hold commands not taken up
  stream::TensorId next_tensor_ = 0;
  Femtoseconds now_{0};
  std::uint64_t version_ = 1, moves_done_ = 0, refusals_ = 0, parked_ever_ = 0;
  std::uint64_t pages_reclaimed_ = 0;
};

} // namespace umf::test
