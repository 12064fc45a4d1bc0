#pragma once

#include "hw/cxl/cxl_device.h"
#include "hw/hbm/hbm.h"
#include "hw/scheduler/scheduler.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// A scheduler between an asker and two tiers: 0 is HBM, 1 the pool.
namespace umf::test {

inline constexpr std::uint64_t kPage = 64 * 1024;

/// Everything starts in the pool; touches order what the test says.
class ScriptedPolicy : public policy::Policy {
public:
  void place(const policy::Need& need, const policy::Ground&,
             std::vector<policy::Grant>& grants) override {
    grants.push_back({1, need.pages});
  }
  void touched(const policy::Touch& touch, const policy::Ground&,
               std::vector<policy::Order>& orders) override {
    if (on_touch) on_touch(touch, orders);
  }
  bool faults(const policy::Touch& touch, const policy::Ground&) override {
    return paging && touch.pages.tier == 1 && touch.pages.first >= paging_from;
  }
  void resolve(const policy::Touch& touch, const policy::Ground&,
               std::vector<policy::Order>& orders) override {
    const auto why = policy::Order::Why::fill;
    if (fill)
      orders.push_back({touch.pages.first, touch.pages.count, 0, why});
    else
      paging = false; // and what was asked for is served where it is
  }
  void make_room(policy::TierIndex, std::uint64_t pages, const policy::Ground&,
                 std::vector<policy::Order>& orders) override {
    if (victims > 0)
      orders.push_back({first_victim, pages, 1, policy::Order::Why::room, policy::TierIndex{0}});
    victims = 0;
  }
  void scanned(std::uint64_t entries, Femtoseconds now, const policy::Ground&,
               std::vector<policy::Order>&) override {
    if (on_scan) on_scan(entries, now);
  }
  std::function<void(const policy::Touch&, std::vector<policy::Order>&)> on_touch;
  std::function<void(std::uint64_t entries, Femtoseconds now)> on_scan;
  bool paging = false, fill = true; ///< whether pages in the pool fault, and are then moved
  memory::PageNumber paging_from = 0, first_victim = 0;
  std::uint64_t victims = 0;
};

/// Stands where the L2 does: sends bursts on two sockets and writes down every phase, checking
/// the base protocol's order and exclusion rules.
class Asker : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_initiator_socket<Asker> reads{"reads"};
  tlm_utils::multi_passthrough_initiator_socket<Asker> writes{"writes"};

  struct Ask {
    std::string phases; ///< "begin end respond", as they came
    Femtoseconds taken{-1}, answered{-1}, arrives{-1};
  };

  Asker(sc_core::sc_module_name name, hw::PayloadPool& pool);

  struct What {
    bool write = false;
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    hw::ResourceId slow = hw::kNoId; ///< a resource of the asker's own on the path
    hw::Purpose purpose = hw::Purpose::demand_read;
  };
  /// Returns the ask's number; its direction must not be blocked.
  std::size_t ask(const What& what);
  bool blocked(bool write) const { return blocked_[write]; }
  const Ask& operator[](std::size_t number) const { return asks_.at(number); }

private:
  tlm::tlm_sync_enum back(bool write, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                          sc_core::sc_time& delay);
  tlm::tlm_sync_enum back_reads(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay) {
    return back(false, payload, phase, delay);
  }
  tlm::tlm_sync_enum back_writes(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
    return back(true, payload, phase, delay);
  }

  hw::PayloadPool& pool_;
  std::vector<Ask> asks_;
  bool blocked_[2] = {false, false};
};

struct Bench {
  /// Tiers may be left out when the test binds its own targets to unit.ports.
  /// Translation takes no time unless a test says so.
  explicit Bench(hw::SchedulerConfig config = {}, bool with_tiers = true, Femtoseconds walk = {});

  /// Declares a tensor; returns its unified address.
  std::uint64_t tensor(stream::TensorId id, std::uint64_t pages);
  /// Runs `act` at `when` in a process of its own.
  void at(Femtoseconds when, std::function<void()> act);
  void run();

  // In order of construction.
  std::unique_ptr<hw::FlowClock> clock;
  std::unique_ptr<hw::PayloadPool> pool;
  std::unique_ptr<memory::FrameAllocator> hbm_frames, pool_frames;
  ScriptedPolicy* policy = nullptr;
  std::unique_ptr<scheduler::Brain> brain;
  std::unique_ptr<hw::Hbm> hbm;       ///< 1 TB/s, 100 ns
  std::unique_ptr<hw::CxlDevice> cxl; ///< 100 GB/s, 100 ns
  std::unique_ptr<hw::Scheduler> unit;
  std::unique_ptr<Asker> asker;
};

} // namespace umf::test
