#pragma once

#include "hw/platform/platform.h"
#include "hw/platform/replay_config.h"
#include "model/memory/range_set.h"
#include "model/stream/records.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace umf::hw {

/// Bytes of pages that hold what another page of the same GPU holds, by tier. Of equal pages the
/// one nearest to the GPU is no duplicate.
struct Duplicates {
  std::vector<std::uint64_t> by_tier; ///< as Platform::tiers()
  std::uint64_t bytes() const;
};

/// What a run's tenants had in common.
struct ProcessFigures {
  std::uint64_t tensors = 0; ///< weights that more than one tenant of a GPU has
  Bytes once{};              ///< of them, counted once a GPU
  Bytes again{};             ///< of the further tenants: loaded again (spawn), or shared (fork)
  Duplicates at_begin, at_peak, at_end;              ///< peak: of begin, ends of repetitions, end
  std::uint64_t copied_pages = 0, fault_batches = 0; ///< on write
  Bytes copied{};
  std::uint64_t clear_caches = 0;
  Femtoseconds clear_time{}; ///< of all tenants: they may overlap
};

/// S10: weights that several tenants have. Two tensors are the same data if the tenants' weights
/// come from the same model (TenantSetup::model) and name, role, type, shape and bytes are equal;
/// of several like that in one tenant, the first is another tenant's first. Nameless tensors are
/// nobody else's.
class Processes {
public:
  using TensorId = stream::TensorId;
  struct Member {
    std::uint32_t tenant = 0;
    TensorId id = 0;          ///< that has its pages; after a fork the first member's
    memory::RangeSet written; ///< pages of the tensor that are no longer what was loaded
  };
  struct Group {
    std::uint32_t gpu = 0;
    Bytes bytes{};
    std::vector<Member> members;

    Member& of(std::uint32_t tenant);
    const Member& of(std::uint32_t tenant) const;
    /// Whether no member but this one has the page as it was loaded.
    bool alone(std::uint32_t tenant, std::uint64_t page) const;
    void leave(std::uint32_t tenant);
  };

  Processes(Platform& platform, std::uint32_t tenants);

  /// A weight that the tenant has from the start; where it may be another's, its group.
  Group* join(std::uint32_t tenant, const std::string& model, const stream::Tensor& tensor,
              std::uint32_t gpu, TensorId id);
  bool forked() const { return forked_; }
  /// All weights have their places.
  void loaded();
  /// Counts what lies there twice.
  void look();
  void copied(std::uint64_t pages, Bytes bytes, std::uint64_t batches);
  void cleared(Femtoseconds time);
  const ProcessFigures& figures() const { return figures_; }

private:
  using Key = std::tuple<std::uint32_t, std::string, std::string, stream::Role, stream::DType,
                         std::vector<std::int64_t>, std::uint64_t>;
  void count(const Group& group, Duplicates& found);

  Platform& platform_;
  std::uint32_t tenants_;
  bool forked_;
  std::map<Key, std::deque<Group>> groups_;
  ProcessFigures figures_;
  std::vector<std::vector<memory::PageRun>> runs_; ///< of a group's members
};

} // namespace umf::hw
