#pragma once

#include "model/policy/registry.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace umf::policy {

/// What pages outside HBM live in first.
enum class Backing : std::uint8_t { pool, host };

struct PagingKeys {
  double hbm_reserve_ratio = 0.15;
  Bytes block = 2_MiB;
  Backing backing = Backing::pool;
};

/// Demand paging, exclusive: a page has one home; an access to one outside HBM faults and waits
/// until its block is there, and blocks leave to make room, always by copying out (NVIDIA's GPUs
/// keep no dirty bit that says it need not be). Which leave is what a derived policy says.
class Paging : public Policy {
public:
  explicit Paging(const PagingKeys& keys) : keys_(keys) {}

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override;
  void touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override;
  bool faults(const Touch& touch, const Ground& ground) override;
  void resolve(const Touch& fault, const Ground& ground, std::vector<Order>& orders) override;
  void make_room(TierIndex tier, std::uint64_t pages, const Ground& ground,
                 std::vector<Order>& orders) override;
  void unmet(const memory::PageRun& run, const Ground& ground) override;
  void settled(const Settled& move, const Ground& ground, std::vector<Order>& orders) override;
  void released(const memory::AddressSpace::Entry& entry, const memory::PageRun& run,
                const Ground& ground) override;
  /// Victims have where to go: what was read in place for want of that may fault again.
  void opened(TierIndex, const Ground&) override { in_place_.clear(); }

protected:
  /// How much a block should stay, asked when it came to HBM or was used: the lowest leaves first.
  virtual std::uint64_t rank(std::uint64_t block) = 0;

  using Ranking = std::set<std::pair<std::uint64_t, std::uint64_t>>;
  /// Blocks in HBM by (rank, block).
  const Ranking& order() const { return order_; }
  bool leaving(std::uint64_t block) const { return blocks_.at(block).leaving; }
  std::uint64_t pages_in_hbm(std::uint64_t block) const;
  /// Asks for the rank anew.
  void renew(std::uint64_t block);
  std::uint64_t block_pages(const Ground& ground) const;

  /// Calls act(block, first page, pages of it) along a run of pages.
  template <class Act>
  void each_block(PageNumber first, std::uint64_t pages, const Ground& ground, Act act) const {
    const std::uint64_t size = block_pages(ground);
    for (PageNumber at = first; at < first + pages;) {
      const PageNumber end = std::min(first + pages, (at / size + 1) * size);
      act(at / size, at, end - at);
      at = end;
    }
  }

private:
  struct Entry {
    std::uint64_t pages = 0; ///< in HBM
    std::uint64_t rank = 0;
    bool leaving = false;
  };
  std::vector<TierClass> backing() const;
  void add(std::uint64_t block, std::uint64_t pages);
  void remove(std::uint64_t block, std::uint64_t pages);

  PagingKeys keys_;
  std::map<std::uint64_t, Entry> blocks_; ///< with pages in HBM
  Ranking order_;                         ///< of them
  std::set<std::uint64_t> in_place_;      ///< blocks that found no room: read where they are
};

} // namespace umf::policy

template <>
struct umf::EnumNames<umf::policy::Backing> {
  static constexpr std::pair<std::string_view, umf::policy::Backing> list[] = {
      {"pool", umf::policy::Backing::pool}, {"host", umf::policy::Backing::host}};
};

namespace umf::policy {

/// The declaration of a policy whose config is or extends PagingKeys, with the keys all share.
template <class Config>
Component<Config> paging_component(const char* name, const char* help) {
  return Component<Config>(name, help)
      .key("hbm_reserve_ratio", static_cast<double Config::*>(&Config::hbm_reserve_ratio),
           hbm_reserve_key())
      .key("block", static_cast<Bytes Config::*>(&Config::block),
           {.help = "What one fault brings in and what leaves at once: an aligned stretch of "
                    "unified addresses; at least a page.",
            .min = 4_KiB,
            .max = 1_GiB,
            .from = Provenance::claimed,
            .source = "CUDA unified memory: blocks of 2 MiB, which its prefetcher fills from "
                      "64 KiB up and which leave whole"})
      .key("backing", static_cast<Backing Config::*>(&Config::backing),
           {.help = "Where pages outside HBM live first; the other one takes what it cannot.",
            .from = Provenance::derived,
            .source = "the pool, to compare policies on one machine; CUDA's is the host"});
}

} // namespace umf::policy
