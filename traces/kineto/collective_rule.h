#pragma once

#include "traces/kineto/event.h"
#include "traces/kineto/work.h"

#include <string>
#include <string_view>

namespace umf::traces::kineto {

/// Collectives of c10d and NCCL, as traffic of this device's memory. What passes over links
/// between devices is not charged.
bool is_collective(std::string_view op);
bool is_collective_kernel(std::string_view kernel);

/// From the operator's shapes, where the tensors are among its arguments: an all-reduce reads
/// and rewrites its tensor, the others read the input and write the output.
Work collective_work(const OperatorCall& call);

/// What the profiler says of a collective on its kernel ("Collective name", "dtype", "In msg
/// nelems", "Out msg nelems") in one line; empty when it says nothing.
std::string message_of(const Event& event);
/// The same from such a line. All-reduce works in place; a broadcast is written (only its
/// root reads it, and which rank that is no kernel says); send and reduce read.
Work message_work(std::string_view message);

} // namespace umf::traces::kineto
