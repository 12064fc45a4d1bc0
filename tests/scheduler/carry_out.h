#pragma once

#include "model/scheduler/brain.h"

namespace umf::test {

/// The machine's side, at no cost and at once: faults are served, commands end as they come.
inline void carry_out(scheduler::Brain& brain, Femtoseconds now, std::uint64_t fault_batch = 256) {
  while (brain.faults_waiting() > 0)
    brain.serve_faults(fault_batch, now);
  brain.make_room();
  while (const auto command = brain.next_command()) {
    if (command->scan == 0) brain.suspend(*command);
    brain.quiesced(*command, now);
    brain.completed(*command);
    brain.make_room();
  }
}

} // namespace umf::test
