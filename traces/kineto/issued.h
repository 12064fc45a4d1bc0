#pragma once

#include "model/stream/records.h"
#include "traces/io/text_pool.h"
#include "traces/kineto/event.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace umf::traces::kineto {

/// Texts of a trace, named by numbers: records that are sorted hold no text themselves.
using TextId = io::TextPool::Id;
inline constexpr TextId kNoText = UINT32_MAX;

/// One call of a framework operator, its inputs as the JSON arrays the trace holds.
struct Op {
  std::string name;
  std::string dims;
  std::string types;
  std::string strides;
  std::string concrete;
};

/// Where and when a framework operator ran. Calls with equal inputs share a text.
struct OpRun {
  std::uint64_t number = 0; ///< of the event in the file
  Thread thread{};
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> external_id;
  TextId name = kNoText;
  TextId call = kNoText; ///< an Op, packed
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
  stream::CopyKind copy_kind = stream::CopyKind::unknown;
  bool host_waits = false;
  bool device_unknown = false; ///< a host call that names no device
  bool by_graph = false;
  JoinRule join = JoinRule::none;
  bool works = false; ///< the one kernel of its operator that is charged the operands
  TextId name = kNoText;
  std::uint64_t number = 0;
  stream::StreamId stream{};
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::optional<std::int64_t> external_id;
  std::optional<std::int64_t> issue_ns;
  std::array<std::uint32_t, 3> grid{};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t registers = 0;
  std::uint64_t shared_memory = 0;
  std::optional<std::uint64_t> bytes;
  std::optional<std::int64_t> awaited_stream;
  std::uint64_t op_number = 0; ///< of the operator's event
  TextId op_name = kNoText;
  TextId op_call = kNoText;
  Thread op_thread{};
  TextId message = kNoText; ///< of a collective (message_of)
};

CallKind call_kind(std::string_view name);
/// "ProfilerStep#": a step of the program begins.
bool is_step_mark(std::string_view name);

/// The call, operator, or device entry an event of that category stands for.
Call call_from(const Event& event);
/// The kernel that a call names (AMD's do), as if it had run.
Issued launch_from(const Event& event, std::uint64_t number, io::TextPool& texts);
OpRun op_from(const Event& event, std::uint64_t number, io::TextPool& texts);
Issued issued_from(const Event& event, std::uint64_t number, io::TextPool& texts);

/// The operator call behind OpRun::call.
Op op_call(const io::TextPool& texts, TextId call);
/// A copy of the text; empty for kNoText.
std::string text_of(const io::TextPool& texts, TextId id);

} // namespace umf::traces::kineto
