#pragma once

#include "model/base/units.h"
#include "model/memory/region.h"
#include "model/stream/records.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace umf::memory {

Region region_of(stream::Role role);

/// S2: unified addresses. A tensor is a page-aligned logical range; ranges of
/// released tensors are joined and used again (best fit, lowest address among equals), as
/// a framework's caching allocator does, so that short-lived activations keep meeting the
/// same cache lines.
class AddressSpace {
public:
  explicit AddressSpace(Bytes page) : page_(page) {}
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  struct Entry {
    stream::Tensor tensor;
    Region region = Region::activation;
    std::uint64_t base = 0; ///< unified address of the first byte
    std::uint64_t pages = 0;
  };

  /// Gives the tensor a range. A tensor without bytes gets none.
  const Entry& declare(const stream::Tensor& tensor);
  void release(stream::TensorId id);

  const Entry* find(stream::TensorId id) const;
  const Entry& at(stream::TensorId id) const;
  /// The live tensor whose range holds a unified address.
  const Entry* holder(std::uint64_t address) const;
  Bytes page() const { return page_; }
  std::uint64_t live_tensors() const { return entries_.size(); }

private:
  /// Address ranges of one region: holes below `top`, nothing above it.
  struct Ranges {
    std::uint64_t top = 0;                                     ///< from the region's origin
    std::map<std::uint64_t, std::uint64_t> holes;              ///< base → bytes
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_size; ///< (bytes, base) of holes
  };
  struct Holder {
    std::uint64_t base = 0, end = 0;
    const Entry* entry = nullptr; ///< in entries_
  };
  using Hole = std::map<std::uint64_t, std::uint64_t>::iterator;

  std::uint64_t take_range(Region region, std::uint64_t bytes);
  void give_range_back(Region region, std::uint64_t base, std::uint64_t bytes);
  std::vector<Holder>::iterator holder_at(const Entry& entry);
  static Hole take_hole(Ranges& ranges, Hole hole);

  Bytes page_;
  std::array<Ranges, kRegions> ranges_;
  std::map<stream::TensorId, Entry> entries_;
  std::array<std::vector<Holder>, kRegions> holders_; ///< of live tensors, by address
};

} // namespace umf::memory
