#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

namespace umf::memory {

/// Half-open range [begin, end) of bytes (or of pages, where the user counts pages).
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  constexpr std::uint64_t size() const { return end - begin; }
  constexpr bool empty() const { return begin >= end; }
  auto operator<=>(const Range&) const = default;
};

/// Exact LRU over extents instead of lines: what a sectored, write-back,
/// write-allocate cache keeps of runs far longer than a line. Full-line writes are
/// assumed, so a write miss fetches nothing. Dirty data above `dirty_limit` is
/// cleaned oldest first (it stays resident). Set conflicts are left out.
///
/// Order: every access makes all units of its range, hit or missed, newer than the rest,
/// and within the range a higher address is newer. Cleaning changes no unit's age.
///
/// Source of the dirty limit: on an A100 half of the 40 MB L2 stays dirty
/// (4,237 ReLU kernels, Nsight Compute DRAM against L1 bytes).
class ExtentCache {
public:
  struct Outcome {
    std::uint64_t hit = 0;           ///< units found
    std::vector<Range> missed;       ///< in address order
    std::vector<Range> written_back; ///< dirty units evicted, then those cleaned; oldest first
    void clear();
  };

  /// Sizes in units; dirty_limit ≤ capacity. Without capacity everything passes through.
  ExtentCache(std::uint64_t capacity, std::uint64_t dirty_limit);

  /// One access to at most `capacity` units; longer runs must be cut by the caller,
  /// which also decides how concurrent accesses interleave. `outcome` is overwritten.
  void access(Range range, bool write, Outcome& outcome);

  /// Makes dirty data inside `range` clean and lists it in address order; with `drop`, forgets
  /// the range as well.
  void clean(Range range, bool drop, std::vector<Range>& written_back);

  /// Forgets the range, dirty or not, and returns the dirty units dropped: the data is dead.
  std::uint64_t discard(Range range);

  std::uint64_t resident() const { return resident_; }
  std::uint64_t dirty() const { return dirty_; }
  std::uint64_t capacity() const { return capacity_; }
  std::size_t extents() const { return index_.size(); }

private:
  using NodeId = std::uint32_t;
  using Index = std::pmr::map<std::uint64_t, NodeId>; ///< begin → node
  static constexpr NodeId kNone = UINT32_MAX;
  struct Links {
    NodeId newer = kNone, older = kNone;
  };
  struct Node {
    std::uint64_t begin = 0, end = 0;
    Index::iterator at; ///< its entry in the index
    Links all, dirty;
    bool is_dirty = false;
    std::uint64_t size() const { return end - begin; }
  };
  /// A list through the nodes by age.
  struct Ages {
    Links Node::*links = nullptr;
    NodeId newest = kNone, oldest = kNone;
  };
  struct Piece {
    Range range;
    bool dirty = false;
  };

  std::pair<Index::iterator, Index::iterator> isolate(Range range);
  Index::iterator split(NodeId id, std::uint64_t at);
  void plan(Range range, bool write, Index::iterator first, Index::iterator last, Outcome& outcome);
  void make_newest(Piece piece, NodeId reused, Index::iterator next);
  Index::iterator insert(Range range, bool dirty, Index::iterator next, NodeId older,
                         NodeId older_dirty);
  void remove(NodeId id);
  void drop_front(NodeId id, std::uint64_t units);
  void set_end(NodeId id, std::uint64_t end);
  void set_dirty(NodeId id, NodeId older_dirty);
  void set_clean(NodeId id);
  void link(Ages& ages, NodeId id, NodeId older);
  void unlink(Ages& ages, NodeId id);
  void shrink_to_capacity(std::vector<Range>& written_back);
  void shrink_dirty(std::vector<Range>& written_back);

  std::uint64_t capacity_, dirty_limit_;
  std::uint64_t resident_ = 0, dirty_ = 0;
  std::pmr::unsynchronized_pool_resource pool_;
  Index index_{&pool_};
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  Ages all_{&Node::all}, dirty_list_{&Node::dirty};
  std::vector<Piece> pieces_; ///< of the running access
};

} // namespace umf::memory
