#pragma once

#include "hw/link/cxl.h"
#include "hw/link/drive.h"
#include "hw/link/node.h"
#include "hw/link/nvlink.h"
#include "hw/link/pcie.h"

#include <cstdint>
#include <vector>

/// Small networks that tests of links start from.
namespace umf::test {

/// A requester and a memory with one or more equal links between them.
class Pair {
public:
  Pair(const hw::link::LinkOptions& link, const hw::link::RequesterOptions& requester,
       const hw::link::MemoryOptions& memory, std::uint32_t links = 1, std::uint64_t seed = 1);

  hw::link::Network network;
  hw::link::NodeId asker, memory;
  static constexpr hw::link::DirectionId tx = 0, rx = 1; ///< of the first link

  /// So many transactions of `size` bytes, `outstanding` at a time, and their measurements.
  hw::link::Load load(bool write, std::uint64_t size, std::uint32_t outstanding,
                      std::uint64_t transactions) const;
  hw::link::Driven run(std::vector<hw::link::Load> loads, double warm_up = 0.1);
  /// The time of one transaction alone, from its first packet.
  Femtoseconds alone(std::uint64_t address, std::uint32_t bytes, bool write);
};

/// Links without skip ordered sets and with room for everything, so that arithmetic is short.
hw::link::PcieConfig plain_pcie(std::uint32_t generation = 5, std::uint32_t width = 16);
/// Requests lines of 64 B and waits for the answers of writes.
hw::link::RequesterOptions cxl_master(std::uint32_t outstanding);
/// Memory that takes everything at once and has its data after `latency`.
hw::link::MemoryOptions plain_memory(Femtoseconds latency = 90_ns);

} // namespace umf::test
