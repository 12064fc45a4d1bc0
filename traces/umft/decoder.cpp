#include "traces/umft/decoder.h"

#include "traces/umft/format.h"
#include "traces/validity.h"

namespace umf::traces::umft {

using namespace stream;

namespace {

constexpr std::size_t kLeastDevice = 16;
constexpr std::size_t kLeastRecord = 2;
constexpr std::size_t kLeastAccess = 6;

void refuse_rest(const ByteReader& in) {
  if (in.left() != 0)
    ByteReader::fail(in.offset(), fmt::format("{} bytes left over, expected none", in.left()));
}

template <class Valued>
void refuse_fault(const Valued& value, std::size_t offset) {
  const std::string fault = fault_of(value);
  if (!fault.empty()) ByteReader::fail(offset, fault);
}

} // namespace

Header decode_header(std::string_view contents) {
  ByteReader in(contents);
  Header header;
  header.format = in.text("a format");
  header.source = in.text("a source");
  header.provenance = in.text("a provenance");
  header.epoch_unix_ns = in.zigzag("an epoch");
  header.devices.resize(in.count("a count of devices", kLeastDevice));
  for (auto& device : header.devices) {
    device.id = in.zigzag32("a device's number");
    device.name = in.text("a device's name");
    device.memory = {in.varint("a memory size")};
    device.sms = in.varint32("a count of SMs");
    device.architecture = in.text("an architecture");
    device.max_threads_per_sm = in.varint32("threads per SM");
    device.registers_per_sm = in.varint32("registers per SM");
    device.shared_memory_per_sm = {in.varint("shared memory per SM")};
    device.clock = {in.real("a clock")};
  }
  refuse_rest(in);
  refuse_fault(header, 0);
  return header;
}

void FrameDecoder::begin(std::string_view contents) {
  in_ = ByteReader(contents);
  last_ = {};
  first_ = in_.varint("a first record");
  const std::size_t at = in_.offset();
  left_ = in_.varint("a count of records");
  strings_.clear();
  strings_.resize(in_.count("a count of strings", kLeastRecord));
  for (auto& string : strings_)
    string = in_.text("a string");
  if (left_ > in_.left() / kLeastRecord)
    ByteReader::fail(
        at, fmt::format("{} records in {} bytes, expected them to fit", left_, in_.left()));
}

bool FrameDecoder::next(Record& record) {
  if (left_ == 0) {
    refuse_rest(in_);
    return false;
  }
  const std::size_t at = in_.offset();
  const std::uint8_t code = in_.u8("a record type");
  switch (static_cast<Code>(code)) {
  case Code::tensor:
    get(record.emplace<Tensor>());
    break;
  case Code::kernel:
    get(record.emplace<Kernel>());
    break;
  case Code::copy:
    get(record.emplace<Copy>());
    break;
  case Code::sync:
    get(record.emplace<Sync>());
    break;
  case Code::alloc:
    record = Alloc{in_.varint32("a tensor")};
    break;
  case Code::free:
    record = Free{in_.varint32("a tensor")};
    break;
  case Code::free_part: {
    Free& free = record.emplace<Free>();
    free.tensor = in_.varint32("a tensor");
    free.offset = in_.varint("an offset");
    free.length = Bytes{in_.varint("a length")};
    break;
  }
  case Code::request:
    get(record.emplace<Request>());
    break;
  case Code::mark:
    get(record.emplace<Mark>());
    break;
  case Code::oddity:
    get(record.emplace<Oddity>());
    break;
  default:
    ByteReader::fail(at, fmt::format("byte {:#04x}, expected a record type from 1 to {}", code,
                                     kCodes<Code> - 1));
  }
  refuse_fault(record, at);
  --left_;
  return true;
}

template <class Enum>
Enum FrameDecoder::code(const char* what) {
  return static_cast<Enum>(in_.code(what, kCodes<Enum>));
}

void FrameDecoder::text(std::string& value, const char* what) {
  const std::size_t at = in_.offset();
  const std::uint64_t number = in_.varint(what);
  if (number > strings_.size())
    ByteReader::fail(at, fmt::format("string {} of {}, expected {} the frame holds", number,
                                     strings_.size(), what));
  if (number == 0)
    value.clear();
  else
    value = strings_[number - 1];
}

std::uint64_t FrameDecoder::id() {
  last_.id += static_cast<std::uint64_t>(in_.zigzag("an id"));
  return last_.id;
}

std::vector<std::uint64_t> FrameDecoder::differences(const char* what) {
  std::vector<std::uint64_t> values(in_.count(what, 1));
  std::uint64_t before = 0;
  for (auto& value : values)
    value = before += static_cast<std::uint64_t>(in_.zigzag(what));
  return values;
}

std::int64_t FrameDecoder::time(const char* what, std::int64_t& last) {
  return last = wrapped_sum(last, in_.zigzag(what));
}

std::int64_t FrameDecoder::end_time() {
  return wrapped_sum(last_.start_ns, in_.zigzag("an end time"));
}

StreamId FrameDecoder::stream_id() {
  StreamId stream;
  stream.device = in_.zigzag32("a stream's device");
  stream.stream = in_.zigzag("a stream's number");
  return stream;
}

void FrameDecoder::get(Tensor& tensor) {
  tensor.id = in_.varint32("a tensor");
  text(tensor.name, "a tensor's name");
  tensor.role = code<Role>("a role");
  tensor.dtype = code<DType>("a data type");
  tensor.shape.resize(in_.count("a count of dimensions", 1));
  for (auto& extent : tensor.shape)
    extent = in_.zigzag("an extent");
  tensor.bytes = {in_.varint("a tensor's bytes")};
  tensor.layer = in_.zigzag32("a layer");
}

void FrameDecoder::get(Kernel& kernel) {
  const std::size_t at = in_.offset();
  const std::uint64_t flags = in_.varint("a kernel's flags");
  if (flags > kernel_flag::all)
    ByteReader::fail(at, fmt::format("kernel flags {:#x}, expected at most {:#x}", flags,
                                     std::uint64_t{kernel_flag::all}));
  kernel.id = id();
  text(kernel.name, "a kernel's name");
  if (flags & kernel_flag::op) text(kernel.op, "an operator");
  kernel.stream = stream_id();
  if (flags & kernel_flag::issue) kernel.issue_ns = time("an issue time", last_.issue_ns);
  if (flags & kernel_flag::start) kernel.start_ns = time("a start time", last_.start_ns);
  if (flags & kernel_flag::end) kernel.end_ns = end_time();
  if (flags & kernel_flag::geometry)
    for (auto* extents : {&kernel.grid, &kernel.block})
      for (auto& extent : *extents)
        extent = in_.varint32("a grid or block extent");
  if (flags & kernel_flag::resources) {
    kernel.registers_per_thread = in_.varint32("registers per thread");
    kernel.shared_memory = {in_.varint("shared memory")};
  }
  kernel.launch = code<Launch>("a launch");
  kernel.phase = code<Phase>("a phase");
  if (flags & kernel_flag::layer) kernel.layer = in_.zigzag32("a layer");
  if (flags & kernel_flag::flops) {
    kernel.flops = in_.real("flops");
    kernel.flops_dtype = code<DType>("a data type");
  }
  kernel.rule = code<Rule>("a rule");
  if (flags & kernel_flag::accesses) {
    kernel.accesses.resize(in_.count("a count of accesses", kLeastAccess));
    for (auto& access : kernel.accesses)
      get(access);
  }
}

void FrameDecoder::get(Access& access) {
  const auto flags = in_.code("an access's flags", access_flag::all + 1);
  access.write = (flags & access_flag::write) != 0;
  access.tensor = in_.varint32("a tensor");
  access.rule = code<Rule>("a rule");
  access.pattern = code<Pattern>("a pattern");
  access.offset = in_.varint("an offset");
  access.length = {in_.varint("a length")};
  if (flags & access_flag::fraction) access.fraction = in_.real("a fraction");
  if (flags & access_flag::blocks) {
    access.block_bytes = {in_.varint("a block's bytes")};
    access.indices = differences("block numbers");
  }
  if (flags & access_flag::addresses) access.addresses = differences("addresses");
}

void FrameDecoder::get(Copy& copy) {
  const auto flags = in_.code("a copy's flags", copy_flag::all + 1);
  copy.id = id();
  copy.kind = code<CopyKind>("a kind of copy");
  copy.stream = stream_id();
  if (flags & copy_flag::peer) copy.peer_device = in_.zigzag32("a peer device");
  if (flags & copy_flag::issue) copy.issue_ns = time("an issue time", last_.issue_ns);
  if (flags & copy_flag::start) copy.start_ns = time("a start time", last_.start_ns);
  if (flags & copy_flag::end) copy.end_ns = end_time();
  if (flags & copy_flag::bytes) copy.bytes = Bytes{in_.varint("a copy's bytes")};
  if (flags & copy_flag::source) copy.source = in_.varint32("a source tensor");
  if (flags & copy_flag::destination) copy.destination = in_.varint32("a destination tensor");
}

void FrameDecoder::get(Sync& sync) {
  const auto flags = in_.code("a sync's flags", sync_flag::all + 1);
  sync.host_waits = (flags & sync_flag::host_waits) != 0;
  sync.waiting = stream_id();
  if (flags & sync_flag::awaited) sync.awaited = stream_id();
  if (flags & sync_flag::start) sync.start_ns = time("a start time", last_.start_ns);
  if (flags & sync_flag::end) sync.end_ns = end_time();
}

void FrameDecoder::get(Request& request) {
  request.id = in_.varint("a request's id");
  request.arrival_ns = time("an arrival time", last_.arrival_ns);
  request.prompt_tokens = in_.varint32("prompt tokens");
  request.output_tokens = in_.varint32("output tokens");
  text(request.service_class, "a service class");
  request.prefix_blocks = differences("prefix blocks");
}

void FrameDecoder::get(Mark& mark) {
  mark.time_ns = in_.zigzag("a mark's time");
  text(mark.name, "a mark's name");
}

void FrameDecoder::get(Oddity& oddity) {
  text(oddity.code, "an oddity's code");
  text(oddity.sentence, "an oddity's sentence");
  oddity.count = in_.varint("a count");
  text(oddity.first_place, "an oddity's first place");
}

} // namespace umf::traces::umft
