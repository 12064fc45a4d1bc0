#include "traces/kineto/issued.h"

#include "traces/kineto/archive.h"
#include "traces/kineto/collective_rule.h"
#include "traces/kineto/decimal.h"
#include "traces/kineto/text_repair.h"

#include <algorithm>
#include <limits>

namespace umf::traces::kineto {

namespace {

constexpr std::int64_t kNoStream = 4294967295; ///< -1 as an unsigned 32-bit number

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::int64_t end_of(const Event& event) {
  const auto start = event.start_ns.value_or(0);
  const auto duration = event.duration_ns.value_or(0);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  return start > most - duration ? most : start + duration;
}

stream::CopyKind copy_kind(std::string_view name) {
  constexpr std::pair<std::string_view, stream::CopyKind> kinds[] = {
      {"HtoD", stream::CopyKind::host_to_device},
      {"DtoH", stream::CopyKind::device_to_host},
      {"DtoD", stream::CopyKind::device_to_device},
      {"PtoP", stream::CopyKind::peer_to_peer},
      {"HtoH", stream::CopyKind::host_to_host}};
  for (const auto& [word, kind] : kinds)
    if (has(name, word)) return kind;
  return stream::CopyKind::unknown;
}

std::int32_t device_of(const Event& event) {
  const auto device = event.device.value_or(static_cast<std::int64_t>(event.thread.process));
  const bool fits = device >= 0 && device <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(device) : 0;
}

std::int64_t stream_of(const Event& event) {
  const auto stream = event.stream.value_or(static_cast<std::int64_t>(event.thread.thread));
  return stream == kNoStream ? -1 : stream;
}

IssuedKind issued_kind(Category category) {
  switch (category) {
  case Category::kernel:
    return IssuedKind::kernel;
  case Category::copy:
  case Category::memset:
    return IssuedKind::copy;
  case Category::sync:
    return IssuedKind::sync;
  default:
    return IssuedKind::mark;
  }
}

template <class Count>
Count count_or_zero(const std::optional<std::int64_t>& value) {
  if (!value || *value < 0) return 0;
  if (static_cast<std::uint64_t>(*value) > std::numeric_limits<Count>::max()) return 0;
  return static_cast<Count>(*value);
}

} // namespace

CallKind call_kind(std::string_view name) {
  if (has(name, "GraphLaunch")) return CallKind::graph_launch;
  if (has(name, "Launch") || has(name, "Memcpy") || has(name, "Memset")) return CallKind::launch;
  if (has(name, "DeviceSynchronize") || has(name, "CtxSynchronize"))
    return CallKind::device_synchronize;
  if (has(name, "StreamSynchronize")) return CallKind::stream_synchronize;
  if (has(name, "StreamWaitEvent") || has(name, "EventSynchronize")) return CallKind::event_wait;
  return CallKind::other;
}

bool is_step_mark(std::string_view name) {
  constexpr std::string_view mark = "ProfilerStep#";
  return name.substr(0, mark.size()) == mark;
}

Call call_from(const Event& event) {
  return {event.thread, call_kind(event.name), event.start_ns.value_or(0), end_of(event)};
}

Issued launch_from(const Event& event, std::uint64_t number, io::TextPool& texts) {
  std::string name;
  unescape(event.launched, name);
  Issued issued;
  issued.number = number;
  issued.name = texts.intern(name);
  issued.issue_ns = event.start_ns;
  issued.external_id = event.external_id;
  issued.grid = event.grid;
  issued.block = event.block;
  return issued;
}

OpRun op_from(const Event& event, std::uint64_t number, io::TextPool& texts) {
  thread_local Packer packer;
  packer.clear();
  packer(event.name, event.dims, event.types, event.strides, event.concrete);
  return {number,
          event.thread,
          event.start_ns.value_or(0),
          end_of(event),
          event.external_id,
          texts.intern(event.name),
          texts.intern(packer.bytes())};
}

Op op_call(const io::TextPool& texts, TextId call) {
  Op op;
  std::string scratch;
  Unpacker unpacker(texts.view(call, scratch));
  unpacker(op.name, op.dims, op.types, op.strides, op.concrete);
  return op;
}

std::string text_of(const io::TextPool& texts, TextId id) {
  std::string scratch;
  return id == kNoText ? std::string() : std::string(texts.view(id, scratch));
}

Issued issued_from(const Event& event, std::uint64_t number, io::TextPool& texts) {
  Issued issued;
  issued.kind = issued_kind(event.category);
  issued.number = number;
  issued.name = texts.intern(event.name);
  issued.stream = {device_of(event), stream_of(event)};
  if (event.start_ns && event.duration_ns) {
    issued.start_ns = event.start_ns;
    issued.end_ns = end_of(event);
  }
  issued.external_id = event.external_id;
  issued.grid = event.grid;
  issued.block = event.block;
  issued.registers = count_or_zero<std::uint32_t>(event.registers);
  issued.shared_memory = count_or_zero<std::uint64_t>(event.shared_memory);
  issued.copy_kind =
      event.category == Category::memset ? stream::CopyKind::memset : copy_kind(event.name);
  if (event.bytes && *event.bytes >= 0) issued.bytes = static_cast<std::uint64_t>(*event.bytes);
  issued.awaited_stream = event.awaited_stream;
  if (const auto message = message_of(event); !message.empty())
    issued.message = texts.intern(message);
  issued.host_waits = event.name != "Stream Wait Event";
  return issued;
}

} // namespace umf::traces::kineto
