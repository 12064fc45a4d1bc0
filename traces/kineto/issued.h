#pragma once

#include "model/stream/records.h"
#include "traces/kineto/event.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace umf::traces::kineto {

/// Where and when a framework operator ran.
struct OpBounds {
  std::uint64_t number = 0; ///< of the event in the file
  Thread thread{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> external_id;
};

/// One call of a framework operator, its inputs as the JSON arrays the trace holds.
struct Op {
  OpBounds bounds{};
  std::string name;
  std::string dims;
  std::string types;
  std::string strides;
  std::string concrete;
};

enum class CallKind : std::uint8_t {
  other,
  launch,
  graph_launch,
  device_synchronize,
  stream_synchronize,
  event_wait ///< waits for an event the call does not name
};

/// One call of the CUDA or HIP runtime or driver.
struct Call {
  Thread thread{};
  CallKind kind = CallKind::other;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

enum class IssuedKind : std::uint8_t { kernel, copy, sync, mark };

/// How a kernel found its operator.
enum class JoinRule : std::uint8_t { none, external_id, enclosing_op };

/// Something put on a device queue (or a mark between such things), as far as it is known
/// at each stage: the join adds the launch and the operator.
struct Issued {
  IssuedKind kind = IssuedKind::kernel;
  std::uint64_t number = 0;
  std::string name;
  stream::StreamId stream{};
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> external_id;
  std::optional<std::int64_t> issue_ns;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t registers = 0;
  std::uint64_t shared_memory = 0;
  stream::CopyKind copy_kind = stream::CopyKind::unknown;
  std::optional<std::uint64_t> bytes;
  std::optional<std::int64_t> awaited_stream;
  bool host_waits = false;
  bool device_unknown = false; ///< a host call that names no device
  bool by_graph = false;
  JoinRule join = JoinRule::none;
  bool works = false; ///< the one kernel of its operator that is charged the operands
  Op op{};
};

template <class Archive>
void visit(Archive& archive, OpBounds& bounds) {
  archive(bounds);
}

/// The bounds come first, so that they can be unpacked alone; Join::add_op packs alike.
template <class Archive>
void visit(Archive& archive, Op& op) {
  archive(op.bounds, op.name, op.dims, op.types, op.strides, op.concrete);
}

template <class Archive>
void visit(Archive& archive, Call& call) {
  archive(call.thread, call.kind, call.start_ns, call.end_ns);
}

template <class Archive>
void visit(Archive& archive, Issued& issued) {
  archive(issued.kind, issued.number, issued.name, issued.stream, issued.start_ns, issued.end_ns,
          issued.external_id, issued.issue_ns, issued.grid, issued.block, issued.registers,
          issued.shared_memory, issued.copy_kind, issued.bytes, issued.awaited_stream,
          issued.host_waits, issued.device_unknown, issued.by_graph, issued.join, issued.works);
  visit(archive, issued.op);
}

CallKind call_kind(std::string_view name);

/// The call, operator, or device entry an event of that category stands for.
Call call_from(const Event& event);
OpBounds op_bounds(const Event& event, std::uint64_t number);
Issued issued_from(const Event& event, std::uint64_t number);

} // namespace umf::traces::kineto
