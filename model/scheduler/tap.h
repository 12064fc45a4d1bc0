#pragma once

#include "model/scheduler/brain.h"

#include <cstdint>
#include <span>

namespace umf::scheduler {

/// Which commands the machine asked for: next_command(), next_background(), next_carried().
enum class Asked : std::uint8_t { any, background, carried };

/// What an access asks for; what only reserves has neither time nor step.
struct Access {
  std::uint64_t address = 0;
  Bytes length{};
  bool write = false;
  Femtoseconds now{};
  policy::StepNumber step = policy::kNoStep;
};

/// Is told of every call of a Brain that may change its state, with what it was given and what it
/// gave back, once it has returned. Calls that throw end a run and are not told. The same calls in
/// the same order make the same decisions; brains that share frames need one order for all.
class Tap {
public:
  virtual ~Tap() = default;
  virtual void declared(const stream::Tensor& tensor) = 0;
  virtual void preloaded(stream::TensorId tensor) = 0;
  virtual void reserved(const Access& access) = 0;
  virtual void released(stream::TensorId tensor) = 0;
  virtual void touched(const Access& access, std::span<const PageRun> runs) = 0;
  virtual void asked_again(const Access& access, std::span<const PageRun> runs) = 0;
  virtual void sensed(const policy::Sensors& sensors) = 0;
  virtual void link_changed(TierIndex tier, const Condition& condition, Femtoseconds now) = 0;
  virtual void served_faults(std::uint64_t pages, Femtoseconds now) = 0;
  virtual void made_room(bool look_again) = 0;
  /// Null: there was none.
  virtual void gave(Asked asked, const Command* command) = 0;
  virtual void refused(const Command& command, Femtoseconds now) = 0;
  virtual void landed(const Command& command, bool look_again) = 0;
  virtual void suspended(const Command& command) = 0;
  virtual void quiesced(const Command& command, Femtoseconds now) = 0;
  virtual void completed(const Command& command) = 0;
  /// `dead`: all dead bytes around these in one stretch.
  virtual void reclaimed(std::uint64_t address, Bytes length, memory::Range dead) = 0;
};

} // namespace umf::scheduler
