#include "traces/kineto/records_out.h"

#include "traces/kineto/archive.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace umf::traces::kineto {

namespace {

/// The share that moved_bytes() turns back into `bytes`, which it rounds up.
double fraction_of(std::uint64_t bytes, std::uint64_t whole) {
  const auto all = static_cast<double>(whole);
  auto fraction = static_cast<double>(bytes) / all;
  while (std::ceil(all * fraction) > static_cast<double>(bytes))
    fraction = std::nextafter(fraction, 0.0);
  return fraction;
}

} // namespace

RecordsOut::RecordsOut(io::RecordLog& resolved, const io::TextPool& texts,
                       const TensorIdentity& tensors, std::vector<stream::Oddity> oddities)
    : resolved_(resolved), texts_(texts), tensors_(tensors), oddities_(std::move(oddities)) {
  resolved_.rewind();
}

bool RecordsOut::next(stream::Record& record) {
  while (waiting_.empty() && !ended_) {
    std::string_view bytes;
    if (resolved_.next(bytes)) {
      emit(unpack<Resolved>(bytes));
      ++ordinal_;
    } else {
      ended_ = true;
      waiting_.insert(waiting_.end(), oddities_.begin(), oddities_.end());
    }
  }
  if (waiting_.empty()) return false;
  record = std::move(waiting_.front());
  waiting_.pop_front();
  return true;
}

void RecordsOut::emit(const Resolved& record) {
  const auto& issued = record.issued;
  switch (issued.kind) {
  case IssuedKind::kernel:
    emit_kernel(record);
    break;
  case IssuedKind::copy:
    emit_copy(issued);
    break;
  case IssuedKind::sync:
    emit_sync(issued);
    break;
  case IssuedKind::mark:
    waiting_.push_back(stream::Mark{issued.start_ns.value_or(0), text_of(texts_, issued.name)});
    break;
  }
}

void RecordsOut::emit_kernel(const Resolved& record) {
  const auto& issued = record.issued;
  for (const auto& fresh : record.fresh)
    waiting_.push_back(fresh.tensor);
  stream::Kernel kernel;
  kernel.id = next_id_++;
  kernel.name = text_of(texts_, issued.name);
  kernel.op = text_of(texts_, issued.op_name);
  kernel.stream = issued.stream;
  kernel.issue_ns = issued.issue_ns;
  kernel.start_ns = issued.start_ns;
  kernel.end_ns = issued.end_ns;
  kernel.grid = issued.grid;
  kernel.block = issued.block;
  kernel.registers_per_thread = issued.registers;
  kernel.shared_memory = {issued.shared_memory};
  kernel.launch = issued.by_graph ? stream::Launch::graph : stream::Launch::eager;
  kernel.rule = record.rule;
  kernel.flops = record.flops;
  kernel.flops_dtype = record.flops_dtype;
  for (const auto& touch : record.touches) {
    stream::Access access;
    access.tensor = touch.tensor;
    access.write = touch.write;
    access.rule = record.rule;
    access.length = {touch.scattered ? touch.whole : touch.bytes};
    if (touch.scattered) {
      access.pattern = stream::Pattern::gather;
      access.fraction = fraction_of(touch.bytes, touch.whole);
    }
    kernel.accesses.push_back(std::move(access));
  }
  device_ = issued.stream.device;
  waiting_.push_back(std::move(kernel));
  emit_frees(record);
}

void RecordsOut::emit_frees(const Resolved& record) {
  std::vector<stream::TensorId> freed;
  for (const auto& touch : record.touches) {
    if (!tensors_.is_last_use(touch.tensor, ordinal_)) continue;
    if (std::find(freed.begin(), freed.end(), touch.tensor) != freed.end()) continue;
    freed.push_back(touch.tensor);
    waiting_.push_back(stream::Free{touch.tensor});
  }
}

void RecordsOut::emit_copy(const Issued& issued) {
  stream::Copy copy;
  copy.id = next_id_++;
  copy.kind = issued.copy_kind;
  copy.stream = issued.stream;
  copy.issue_ns = issued.issue_ns;
  copy.start_ns = issued.start_ns;
  copy.end_ns = issued.end_ns;
  if (issued.bytes) copy.bytes = Bytes{*issued.bytes};
  device_ = issued.stream.device;
  waiting_.push_back(std::move(copy));
}

void RecordsOut::emit_sync(const Issued& issued) {
  stream::Sync sync;
  const auto device = issued.device_unknown ? device_ : issued.stream.device;
  sync.host_waits = issued.host_waits;
  sync.start_ns = issued.start_ns;
  sync.end_ns = issued.end_ns;
  if (issued.awaited_stream)
    sync.awaited = stream::StreamId{device, *issued.awaited_stream};
  else if (issued.host_waits && issued.stream.stream >= 0)
    sync.awaited = stream::StreamId{device, issued.stream.stream};
  sync.waiting = {device, std::max<std::int64_t>(issued.stream.stream, 0)};
  waiting_.push_back(sync);
}

} // namespace umf::traces::kineto
