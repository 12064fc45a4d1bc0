#pragma once

#include "app/tables/memories.h"
#include "hw/link/drive.h"
#include "hw/platform/scenario.h"

#include <string>
#include <vector>

/// Ways from a GPU to memories of a scenario, as networks at line resolution.
namespace umf::app {

/// One way: a requester, links, what stands between them, a memory.
struct LinePath {
  std::string to;  ///< tier, or a GPU's
  std::string way; ///< names of what lies on it
  struct Hop {
    const hw::LinkSpec* link;
    hw::link::NodeOptions end; ///< what it leads to
  };
  hw::link::RequesterOptions requester;
  std::vector<Hop> hops; ///< none: memory on the package
  hw::link::MemoryOptions memory;

  /// Slowest hop by the formulas of burst resolution, reads and writes of one size together,
  /// without bounds on what is in flight; nothing for memory on the package.
  std::optional<BytesPerSecond> formula(double read_share, Bytes transaction) const;
  /// Presses transactions of one size on a network of its own.
  hw::link::Driven drive(const hw::link::Load& load, std::vector<std::string>* links) const;
};

/// From the first GPU to each tier that `options` names, and to each other GPU's memory over what
/// both hang on.
std::vector<LinePath> line_paths(const hw::Scenario& scenario, const Memories& memories,
                                 const TableOptions& options);

} // namespace umf::app
