#include "traces/umft/encoder.h"

#include "model/base/error.h"
#include "traces/umft/format.h"

namespace umf::traces::umft {

using namespace stream;

void encode_header(ByteWriter& out, const Header& header) {
  out.text(header.format);
  out.text(header.source);
  out.text(header.provenance);
  out.zigzag(header.epoch_unix_ns);
  out.varint(header.devices.size());
  for (const auto& device : header.devices) {
    out.zigzag(device.id);
    out.text(device.name);
    out.varint(device.memory.count);
    out.varint(device.sms);
    out.text(device.architecture);
    out.varint(device.max_threads_per_sm);
    out.varint(device.registers_per_sm);
    out.varint(device.shared_memory_per_sm.count);
    out.real(device.clock.value);
  }
}

void FrameEncoder::add(const Record& record) {
  std::visit([this](const auto& one) { put(one); }, record);
  ++entry_.records;
}

FrameEntry FrameEncoder::take(ByteWriter& contents) {
  contents.clear();
  contents.varint(entry_.first_record);
  contents.varint(entry_.records);
  contents.varint(known_.size());
  contents.raw(strings_.bytes());
  contents.raw(records_.bytes());
  FrameEntry taken = entry_;
  entry_ = {};
  entry_.first_record = taken.first_record + taken.records;
  records_.clear();
  strings_.clear();
  known_.clear();
  last_ = {};
  return taken;
}

template <class Enum>
void FrameEncoder::code(Enum value) {
  const auto byte = static_cast<std::uint8_t>(value);
  ensure(byte < kCodes<Enum>, "an enumerator the trace format has no code for");
  records_.u8(byte);
}

void FrameEncoder::text(const std::string& value) {
  if (value.empty()) return records_.varint(0);
  auto found = known_.find(value);
  if (found == known_.end()) {
    found = known_.emplace(value, known_.size() + 1).first;
    strings_.text(value);
  }
  records_.varint(found->second);
}

void FrameEncoder::id(std::uint64_t value) {
  records_.zigzag(static_cast<std::int64_t>(value - last_.id));
  last_.id = value;
}

void FrameEncoder::differences(const std::vector<std::uint64_t>& values) {
  records_.varint(values.size());
  std::uint64_t before = 0;
  for (const std::uint64_t value : values) {
    records_.zigzag(static_cast<std::int64_t>(value - before));
    before = value;
  }
}

void FrameEncoder::optional_time(const std::optional<std::int64_t>& ns, std::int64_t& last) {
  if (!ns) return;
  records_.zigzag(wrapped_difference(*ns, last));
  last = *ns;
  entry_.saw_time(*ns);
}

void FrameEncoder::optional_end(const std::optional<std::int64_t>& ns) {
  if (!ns) return;
  records_.zigzag(wrapped_difference(*ns, last_.start_ns));
  entry_.saw_time(*ns);
}

void FrameEncoder::put(const StreamId& stream) {
  records_.zigzag(stream.device);
  records_.zigzag(stream.stream);
}

void FrameEncoder::put(const Tensor& tensor) {
  code(Code::tensor);
  records_.varint(tensor.id);
  text(tensor.name);
  code(tensor.role);
  code(tensor.dtype);
  records_.varint(tensor.shape.size());
  for (const std::int64_t extent : tensor.shape)
    records_.zigzag(extent);
  records_.varint(tensor.bytes.count);
  records_.zigzag(tensor.layer);
}

namespace {

std::uint64_t flags_of(const Kernel& kernel) {
  using namespace kernel_flag;
  const Kernel plain;
  const bool has_geometry = kernel.grid != plain.grid || kernel.block != plain.block;
  const bool has_resources = kernel.registers_per_thread != 0 || kernel.shared_memory.count != 0;
  // By bits, for a zero may be negative.
  const bool has_flops =
      std::bit_cast<std::uint64_t>(kernel.flops) != 0 || kernel.flops_dtype != DType::unknown;
  std::uint64_t flags = 0;
  if (!kernel.op.empty()) flags |= op;
  if (kernel.issue_ns) flags |= issue;
  if (kernel.start_ns) flags |= start;
  if (kernel.end_ns) flags |= end;
  if (has_geometry) flags |= geometry;
  if (has_resources) flags |= resources;
  if (kernel.layer != plain.layer) flags |= layer;
  if (has_flops) flags |= flops;
  if (!kernel.accesses.empty()) flags |= accesses;
  return flags;
}

} // namespace

void FrameEncoder::put(const Kernel& kernel) {
  const std::uint64_t flags = flags_of(kernel);
  code(Code::kernel);
  records_.varint(flags);
  id(kernel.id);
  text(kernel.name);
  if (flags & kernel_flag::op) text(kernel.op);
  put(kernel.stream);
  optional_time(kernel.issue_ns, last_.issue_ns);
  optional_time(kernel.start_ns, last_.start_ns);
  optional_end(kernel.end_ns);
  if (flags & kernel_flag::geometry)
    for (const auto& extents : {kernel.grid, kernel.block})
      for (const std::uint32_t extent : extents)
        records_.varint(extent);
  if (flags & kernel_flag::resources) {
    records_.varint(kernel.registers_per_thread);
    records_.varint(kernel.shared_memory.count);
  }
  code(kernel.launch);
  code(kernel.phase);
  if (flags & kernel_flag::layer) records_.zigzag(kernel.layer);
  if (flags & kernel_flag::flops) {
    records_.real(kernel.flops);
    code(kernel.flops_dtype);
  }
  code(kernel.rule);
  if (flags & kernel_flag::accesses) {
    records_.varint(kernel.accesses.size());
    for (const auto& access : kernel.accesses)
      put(access);
  }
  entry_.saw_kernel(kernel.id);
}

void FrameEncoder::put(const Access& access) {
  const bool has_blocks = !access.indices.empty() || access.block_bytes.count != 0;
  std::uint8_t flags = 0;
  if (access.write) flags |= access_flag::write;
  if (access.fraction != 1.0) flags |= access_flag::fraction;
  if (has_blocks) flags |= access_flag::blocks;
  if (!access.addresses.empty()) flags |= access_flag::addresses;
  records_.u8(flags);
  records_.varint(access.tensor);
  code(access.rule);
  code(access.pattern);
  records_.varint(access.offset);
  records_.varint(access.length.count);
  if (flags & access_flag::fraction) records_.real(access.fraction);
  if (has_blocks) {
    records_.varint(access.block_bytes.count);
    differences(access.indices);
  }
  if (flags & access_flag::addresses) differences(access.addresses);
}

void FrameEncoder::put(const Copy& copy) {
  using namespace copy_flag;
  code(Code::copy);
  records_.u8(static_cast<std::uint8_t>(
      (copy.peer_device ? peer : 0) | (copy.issue_ns ? issue : 0) | (copy.start_ns ? start : 0) |
      (copy.end_ns ? end : 0) | (copy.bytes ? bytes : 0) | (copy.source ? source : 0) |
      (copy.destination ? destination : 0)));
  id(copy.id);
  code(copy.kind);
  put(copy.stream);
  if (copy.peer_device) records_.zigzag(*copy.peer_device);
  optional_time(copy.issue_ns, last_.issue_ns);
  optional_time(copy.start_ns, last_.start_ns);
  optional_end(copy.end_ns);
  if (copy.bytes) records_.varint(copy.bytes->count);
  if (copy.source) records_.varint(*copy.source);
  if (copy.destination) records_.varint(*copy.destination);
}

void FrameEncoder::put(const Sync& sync) {
  using namespace sync_flag;
  code(Code::sync);
  records_.u8(static_cast<std::uint8_t>((sync.awaited ? awaited : 0) |
                                        (sync.host_waits ? host_waits : 0) |
                                        (sync.start_ns ? start : 0) | (sync.end_ns ? end : 0)));
  put(sync.waiting);
  if (sync.awaited) put(*sync.awaited);
  optional_time(sync.start_ns, last_.start_ns);
  optional_end(sync.end_ns);
}

void FrameEncoder::put(const Alloc& alloc) {
  code(Code::alloc);
  records_.varint(alloc.tensor);
}

void FrameEncoder::put(const Free& free) {
  code(free.length ? Code::free_part : Code::free);
  records_.varint(free.tensor);
  if (!free.length) return;
  records_.varint(free.offset);
  records_.varint(free.length->count);
}

void FrameEncoder::put(const Request& request) {
  code(Code::request);
  records_.varint(request.id);
  optional_time(request.arrival_ns, last_.arrival_ns);
  records_.varint(request.prompt_tokens);
  records_.varint(request.output_tokens);
  text(request.service_class);
  differences(request.prefix_blocks);
}

void FrameEncoder::put(const Mark& mark) {
  code(Code::mark);
  records_.zigzag(mark.time_ns);
  entry_.saw_time(mark.time_ns);
  text(mark.name);
}

void FrameEncoder::put(const Oddity& oddity) {
  code(Code::oddity);
  text(oddity.code);
  text(oddity.sentence);
  records_.varint(oddity.count);
  text(oddity.first_place);
}

} // namespace umf::traces::umft
