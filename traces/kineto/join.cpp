#include "traces/kineto/join.h"

#include "traces/kineto/byte_rules.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace umf::traces::kineto {

namespace {

constexpr auto kNever = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kMostCalls = 16;     ///< kept of one correlation
constexpr std::size_t kDeepest = 4096;     ///< operators open at once
constexpr std::size_t kMostKernels = 4096; ///< of one operator that are weighed together

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

std::int64_t duration(const Issued& issued) {
  return issued.start_ns ? *issued.end_ns - *issued.start_ns : 0;
}

} // namespace

/// The operators of one thread that may still enclose a call, innermost last.
class Join::OpenOps {
public:
  void open(const OpRun& op) {
    if (!open_.empty() && open_.back().thread != op.thread) open_.clear();
    close_before(op.start_ns);
    if (open_.size() == kDeepest) open_.pop_front();
    open_.push_back(op);
  }

  /// The operator with the External id if it encloses the call, else the innermost one
  /// that does. An External id alone may match by accident (2022-23 traces repeat the
  /// correlation there).
  void join(Issued& issued, const Call& call) {
    close_before(call.start_ns);
    const OpRun* innermost = nullptr;
    for (auto op = open_.rbegin(); op != open_.rend(); ++op) {
      if (!encloses(*op, call)) continue;
      if (!innermost) innermost = &*op;
      if (!issued.external_id || op->external_id != issued.external_id) continue;
      return give(issued, *op, JoinRule::external_id);
    }
    if (innermost) give(issued, *innermost, JoinRule::enclosing_op);
  }

private:
  static bool encloses(const OpRun& op, const Call& call) {
    return op.thread == call.thread && op.start_ns <= call.start_ns && op.end_ns >= call.end_ns;
  }
  static void give(Issued& issued, const OpRun& op, JoinRule rule) {
    issued.join = rule;
    issued.op_number = op.number;
    issued.op_name = op.name;
    issued.op_call = op.call;
    issued.op_thread = op.thread;
  }
  void close_before(std::int64_t time) {
    while (!open_.empty() && open_.back().end_ns < time)
      open_.pop_back();
  }

  std::deque<OpRun> open_;
};

/// By the host's call where one was found, else by the start on the device. What has
/// neither comes first.
bool Join::ByIssue::operator()(const Issued& a, const Issued& b) const {
  const auto key = [](const Issued& issued) {
    const auto start = issued.start_ns.value_or(kNever);
    return std::tuple(issued.issue_ns.value_or(start), start, issued.number);
  };
  return key(a) < key(b);
}

Join::Join(Bytes memory, const io::TextPool& texts)
    : texts_(texts), device_(memory), calls_(memory), ops_(memory), called_(memory),
      grouped_(memory), ordered_(memory) {}

void Join::add(const Issued& issued, std::optional<std::int64_t> correlation) {
  if (issued.kind == IssuedKind::mark || !usable(correlation))
    ordered_.add(issued);
  else
    device_.add({*correlation, issued});
}

void Join::add(const Call& call, std::optional<std::int64_t> correlation) {
  if (usable(correlation))
    calls_.add({*correlation, call});
  else
    emit_sync(call);
}

void Join::run() {
  device_.sort();
  calls_.sort();
  join_calls();
  device_.clear();
  calls_.clear();
  ops_.sort();
  called_.sort();
  join_ops();
  ops_.clear();
  called_.clear();
  grouped_.sort();
  choose_workers();
  grouped_.clear();
  ordered_.sort();
}

/// Both sides are sorted by correlation: one merge. Several kernels of one graph launch
/// share a correlation and all survive.
void Join::join_calls() {
  const CallEntry* call = calls_.next();
  const Entry* entry = device_.next();
  std::vector<Call> calls;
  while (call || entry) {
    const bool call_first = call && (!entry || call->correlation <= entry->correlation);
    const auto correlation = call_first ? call->correlation : entry->correlation;
    calls.clear();
    for (; call && call->correlation == correlation; call = calls_.next())
      if (calls.size() < kMostCalls) calls.push_back(call->call);
    bool synced = false;
    for (; entry && entry->correlation == correlation; entry = device_.next())
      join_entry(calls, synced, entry->issued);
    lone_calls(calls, synced);
  }
}

void Join::join_entry(const std::vector<Call>& calls, bool& synced, const Issued& entry) {
  synced = synced || entry.kind == IssuedKind::sync;
  if (calls.empty()) return ordered_.add(entry);
  Called called{entry, launching_call(calls)};
  called.issued.issue_ns = called.call.start_ns;
  called.issued.by_graph = called.call.kind == CallKind::graph_launch;
  if (entry.kind != IssuedKind::kernel) return ordered_.add(called.issued);
  ++counts_.with_call;
  if (called.issued.by_graph) ++counts_.by_graph;
  called_.add(called);
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
  ordered_.add(sync);
}

void Join::join_ops() {
  OpenOps open;
  const OpRun* op = ops_.next();
  while (const Called* called = called_.next()) {
    const Call& call = called->call;
    for (; op && std::tie(op->thread, op->start_ns) <= std::tie(call.thread, call.start_ns);
         op = ops_.next())
      open.open(*op);
    Issued issued = called->issued;
    open.join(issued, call);
    if (issued.join == JoinRule::external_id) ++counts_.by_external_id;
    if (issued.join == JoinRule::enclosing_op) ++counts_.by_enclosing_op;
    if (issued.join == JoinRule::none || issued.by_graph)
      ordered_.add(issued);
    else
      grouped_.add(issued);
  }
}

void Join::choose_workers() {
  std::vector<Issued> group;
  while (const Issued* issued = grouped_.next()) {
    if (!group.empty() &&
        (group.front().op_number != issued->op_number || group.size() == kMostKernels))
      finish_group(group);
    group.push_back(*issued);
  }
  if (!group.empty()) finish_group(group);
}

void Join::finish_group(std::vector<Issued>& group) {
  const std::string op = text_of(texts_, group.front().op_name);
  Issued* worker = nullptr;
  bool best_named = false;
  for (auto& issued : group) {
    const std::string kernel = text_of(texts_, issued.name);
    if (!may_work(op, kernel)) continue;
    const bool named = named_for_work(op, kernel);
    if (!worker || (named && !best_named) ||
        (named == best_named && duration(issued) > duration(*worker))) {
      worker = &issued;
      best_named = named;
    }
  }
  if (worker) worker->works = true;
  for (const auto& issued : group)
    ordered_.add(issued);
  group.clear();
}

} // namespace umf::traces::kineto
