#pragma once

#include "hw/fabric/cause.h"
#include "model/base/units.h"

#include <cstdint>

namespace umf::hw {

/// A move of pages between tiers, done; or a sync: bytes that came out of the staging buffer; or a
/// scan of the page table, whose pages are the entries read.
struct MoveSpan {
  std::uint64_t id = 0; ///< of the command, from 1 in order of issue on its GPU
  std::uint32_t gpu = 0;
  std::uint16_t from = 0, to = 0; ///< tiers of the platform
  std::uint64_t pages = 0, bytes = 0;
  bool sync = false, scan = false;
  Femtoseconds accepted{};        ///< by the machine; of a sync: when its pages were suspended
  Femtoseconds begun{}, copied{}; ///< first byte, last byte
  Femtoseconds completed{};
};

/// Watches a run from outside: nothing it does changes a time or a decision.
///
/// It sleeps between its borders, and no process wakes for it: whatever is about to change
/// something at an instant first asks due(), which is one comparison, and calls reach() when a
/// border has been met. The machine is then still as it was since the last change, so figures
/// at the border itself follow from rates that are constant in between.
class Observer {
public:
  virtual ~Observer() = default;

  Femtoseconds due() const { return due_; }
  /// Time has come to `now` ≥ due(), nothing has changed at `now` yet. Moves due() beyond it.
  virtual void reach(Femtoseconds now) = 0;
  /// A GPU has charged [from, to): its causes were `before` and are `after`. Returns the border
  /// from which on it wants to be told again.
  virtual Femtoseconds charged(std::uint32_t gpu, Femtoseconds from, Femtoseconds to,
                               const CauseLedger& before, const CauseLedger& after) = 0;
  virtual void moved(const MoveSpan& move) = 0;

protected:
  Femtoseconds due_{};
};

} // namespace umf::hw
