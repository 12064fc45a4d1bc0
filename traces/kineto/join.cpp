#include "traces/kineto/join.h"

#include "traces/kineto/byte_rules.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace umf::traces::kineto {

namespace {

using Key = io::SortedRecords::Key;

constexpr std::size_t kMostCalls = 16;     ///< kept of one correlation
constexpr std::size_t kDeepest = 4096;     ///< operators open at once
constexpr std::size_t kMostKernels = 4096; ///< of one operator that are weighed together

/// Signed times in the order of unsigned keys.
std::uint64_t ascending(std::int64_t value) {
  return static_cast<std::uint64_t>(value) ^ (std::uint64_t{1} << 63);
}

/// Graph and eager launches all have positive correlations; AMD writes -1 for none.
bool usable(const std::optional<std::int64_t>& correlation) {
  return correlation && *correlation > 0;
}

const Call& launching_call(const std::vector<Call>& calls) {
  const auto launches = [](const Call& call) {
    return call.kind == CallKind::launch || call.kind == CallKind::graph_launch;
  };
  const auto found = std::find_if(calls.begin(), calls.end(), launches);
  return found == calls.end() ? calls.front() : *found;
}

/// A device entry with the call that issued it.
struct Called {
  Issued issued{};
  Call call{};
};

template <class Archive>
void visit(Archive& archive, Called& called) {
  visit(archive, called.issued);
  visit(archive, called.call);
}

/// The operators of one thread that may still enclose a call, innermost last. Most are
/// never asked for, so only their bounds are unpacked.
class OpenOps {
public:
  void open(std::string_view packed) {
    OpenOp op;
    Unpacker unpacker(packed);
    visit(unpacker, op.bounds);
    if (!open_.empty() && !(open_.back().bounds.thread == op.bounds.thread)) open_.clear();
    close_before(op.bounds.start_ns);
    if (open_.size() == kDeepest) open_.pop_front();
    op.packed = packed;
    open_.push_back(std::move(op));
  }

  /// The operator with the External id if it encloses the call, else the innermost one
  /// that does. An External id alone may match by accident (2022-23 traces repeat the
  /// correlation there).
  void join(Called& called) {
    close_before(called.call.start_ns);
    const OpenOp* innermost = nullptr;
    for (auto op = open_.rbegin(); op != open_.rend(); ++op) {
      if (!encloses(op->bounds, called.call)) continue;
      if (!innermost) innermost = &*op;
      const auto& wanted = called.issued.external_id;
      if (!wanted || op->bounds.external_id != wanted) continue;
      called.issued.join = JoinRule::external_id;
      called.issued.op = unpack<Op>(op->packed);
      return;
    }
    if (!innermost) return;
    called.issued.join = JoinRule::enclosing_op;
    called.issued.op = unpack<Op>(innermost->packed);
  }

private:
  struct OpenOp {
    OpBounds bounds{};
    std::string packed;
  };

  static bool encloses(const OpBounds& op, const Call& call) {
    return op.thread == call.thread && op.start_ns <= call.start_ns && op.end_ns >= call.end_ns;
  }
  void close_before(std::int64_t time) {
    while (!open_.empty() && open_.back().bounds.end_ns < time)
      open_.pop_back();
  }

  std::deque<OpenOp> open_;
};

std::int64_t duration(const Issued& issued) {
  return issued.start_ns ? *issued.end_ns - *issued.start_ns : 0;
}

} // namespace

Join::Join(Bytes memory)
    : device_(memory), calls_(memory), ops_(memory), called_(memory), grouped_(memory),
      ordered_(memory) {}

void Join::add(Issued& issued, std::optional<std::int64_t> correlation) {
  if (issued.kind == IssuedKind::mark || !usable(correlation))
    order(issued);
  else
    device_.add({ascending(*correlation)}, pack(packer_, issued));
}

void Join::add(Call& call, std::optional<std::int64_t> correlation) {
  if (usable(correlation))
    calls_.add({ascending(*correlation), ascending(call.start_ns)}, pack(packer_, call));
  else
    emit_sync(call);
}

void Join::add_op(const Event& event, std::uint64_t number) {
  const auto bounds = op_bounds(event, number);
  packer_.clear();
  packer_(bounds, event.name, event.dims, event.types, event.strides, event.concrete);
  ops_.add({bounds.thread.process, bounds.thread.thread, ascending(bounds.start_ns),
            ~ascending(bounds.end_ns)},
           packer_.bytes());
}

void Join::run(io::RecordLog& ordered) {
  device_.sort();
  calls_.sort();
  join_calls();
  ops_.sort();
  called_.sort();
  join_ops();
  grouped_.sort();
  choose_workers();
  ordered_.sort();
  Key key{};
  std::string_view record;
  while (ordered_.next(key, record))
    ordered.append(record);
}

/// Both sides are sorted by correlation: one merge. Several kernels of one graph launch
/// share a correlation and all survive.
void Join::join_calls() {
  Key call_key{};
  Key device_key{};
  std::string_view call_record;
  std::string_view device_record;
  bool more_calls = calls_.next(call_key, call_record);
  bool more_device = device_.next(device_key, device_record);
  while (more_calls || more_device) {
    const bool call_first = more_calls && (!more_device || call_key[0] <= device_key[0]);
    const auto correlation = call_first ? call_key[0] : device_key[0];
    std::vector<Call> calls;
    for (; more_calls && call_key[0] == correlation;
         more_calls = calls_.next(call_key, call_record))
      if (calls.size() < kMostCalls) calls.push_back(unpack<Call>(call_record));
    bool synced = false;
    for (; more_device && device_key[0] == correlation;
         more_device = device_.next(device_key, device_record))
      join_group(calls, synced, device_record);
    lone_calls(calls, synced);
  }
}

void Join::join_group(const std::vector<Call>& calls, bool& synced, std::string_view record) {
  Called called;
  called.issued = unpack<Issued>(record);
  synced = synced || called.issued.kind == IssuedKind::sync;
  if (calls.empty()) {
    order(called.issued);
    return;
  }
  called.call = launching_call(calls);
  called.issued.issue_ns = called.call.start_ns;
  called.issued.by_graph = called.call.kind == CallKind::graph_launch;
  if (called.issued.kind != IssuedKind::kernel) {
    order(called.issued);
    return;
  }
  ++counts_.with_call;
  if (called.issued.by_graph) ++counts_.by_graph;
  const auto& thread = called.call.thread;
  called_.add({thread.process, thread.thread, ascending(called.call.start_ns)},
              pack(packer_, called));
}

void Join::lone_calls(const std::vector<Call>& calls, bool synced) {
  if (synced) return;
  for (const auto& call : calls)
    emit_sync(call);
}

/// The host waited, and no device entry says for what.
void Join::emit_sync(const Call& call) {
  if (call.kind == CallKind::event_wait) ++waits_without_stream_;
  if (call.kind != CallKind::device_synchronize && call.kind != CallKind::stream_synchronize)
    return;
  Issued sync;
  sync.kind = IssuedKind::sync;
  sync.stream.stream = -1;
  sync.start_ns = call.start_ns;
  sync.end_ns = call.end_ns;
  sync.host_waits = true;
  sync.device_unknown = true;
  order(sync);
}

void Join::join_ops() {
  Key op_key{};
  Key called_key{};
  std::string_view op_record;
  std::string_view called_record;
  OpenOps open;
  bool more_ops = ops_.next(op_key, op_record);
  while (called_.next(called_key, called_record)) {
    const auto not_after = [&] {
      return std::lexicographical_compare(op_key.begin(), op_key.begin() + 3, called_key.begin(),
                                          called_key.begin() + 3) ||
             std::equal(op_key.begin(), op_key.begin() + 3, called_key.begin());
    };
    for (; more_ops && not_after(); more_ops = ops_.next(op_key, op_record))
      open.open(op_record);
    auto called = unpack<Called>(called_record);
    open.join(called);
    auto& issued = called.issued;
    if (issued.join == JoinRule::external_id) ++counts_.by_external_id;
    if (issued.join == JoinRule::enclosing_op) ++counts_.by_enclosing_op;
    if (issued.join == JoinRule::none || issued.by_graph)
      order(issued);
    else
      grouped_.add({issued.op.bounds.number, issued.number}, pack(packer_, issued));
  }
}

void Join::choose_workers() {
  Key key{};
  std::string_view record;
  std::vector<Issued> group;
  while (grouped_.next(key, record)) {
    if (!group.empty() &&
        (group.front().op.bounds.number != key[0] || group.size() == kMostKernels))
      finish_group(group);
    group.push_back(unpack<Issued>(record));
  }
  if (!group.empty()) finish_group(group);
}

void Join::finish_group(std::vector<Issued>& group) {
  Issued* worker = nullptr;
  for (auto& issued : group) {
    if (!may_work(issued.op.name, issued.name)) continue;
    const bool named = named_for_work(issued.op.name, issued.name);
    const bool best_named = worker && named_for_work(worker->op.name, worker->name);
    if (!worker || (named && !best_named) ||
        (named == best_named && duration(issued) > duration(*worker)))
      worker = &issued;
  }
  if (worker) worker->works = true;
  for (auto& issued : group)
    order(issued);
  group.clear();
}

/// By the host's call where one was found, else by the start on the device. What has
/// neither comes first.
void Join::order(Issued& issued) {
  constexpr auto never = std::numeric_limits<std::int64_t>::min();
  const auto start = issued.start_ns.value_or(never);
  ordered_.add({ascending(issued.issue_ns.value_or(start)), ascending(start), issued.number},
               pack(packer_, issued));
}

} // namespace umf::traces::kineto
