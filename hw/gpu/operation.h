#pragma once

#include "hw/fabric/cause.h"
#include "model/base/units.h"
#include "model/stream/records.h"

#include <cstdint>
#include <vector>

namespace umf::hw {

/// One run of bytes an operation reads or writes, by unified address; for the host's side of
/// a copy, by system physical address.
struct OperationAccess {
  std::uint64_t address = 0;
  Bytes length{};
  bool write = false;
  bool cached = true; ///< through the L2; copy engines and the host's side go past it
};

/// What replay hands to a GPU: a kernel, a copy or a memset whose dependencies are met.
struct Operation {
  enum class Kind : std::uint8_t { kernel, copy, memset };

  std::uint64_t id = 0;
  std::uint32_t tenant = 0;
  std::uint32_t step = UINT32_MAX; ///< its number in a policy::Future
  double weight = 1.0;             ///< of its bytes and arithmetic where they share a resource
  Kind kind = Kind::kernel;
  Femtoseconds fault{}; ///< of a copy that a fault handler makes: in place of a launch
  stream::Launch launch = stream::Launch::eager;
  std::vector<OperationAccess> accesses;
  double flops = 0;
  stream::DType flops_dtype = stream::DType::unknown;
  std::uint64_t blocks = 0;            ///< 0: not recorded
  std::uint64_t threads_per_block = 0; ///< 0: not recorded
  std::uint32_t registers_per_thread = 0;
  Bytes shared_memory{};
};

/// What became of it. Bytes read and written count sectors between SMs and L2 (or through a
/// copy engine); dram bytes count what went to tiers in its name.
struct OperationResult {
  std::uint64_t id = 0;
  std::uint32_t tenant = 0;
  Femtoseconds ready{}, start{}, end{};
  Bytes read{}, written{}, dram{};
  CauseLedger causes;   ///< of start to end
  Femtojoules energy{}; ///< of its arithmetic, its bytes to and from the L2, and its bursts
};

} // namespace umf::hw
