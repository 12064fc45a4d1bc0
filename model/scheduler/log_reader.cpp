#include "model/base/error.h"
#include "model/scheduler/log.h"
#include "model/scheduler/log_format.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace umf::scheduler {

using namespace log_format;
using Kind = LogEvent::Kind;

/// Bytes that have come. Behind the last of the file lie zeros enough for any record, so that only
/// whole records are checked for their end.
class LogReader::Decoder {
public:
  Decoder(Fill fill, std::string file)
      : fill_(std::move(fill)), file_(std::move(file)), hash_(XXH3_createState()) {
    ensure(hash_ != nullptr, "no memory for a checksum");
    XXH3_64bits_reset(hash_);
  }
  ~Decoder() { XXH3_freeState(hash_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const std::string& file() const { return file_; }
  std::uint64_t offset() const { return base_ + static_cast<std::uint64_t>(at_ - buffer_.data()); }

  LogHeader header();
  bool event(LogEvent& event);

private:
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const {
    throw UserError(Place{file_, 0, 0, {}, at}, what);
  }
  /// Room for so many bytes from here on, or what is left of the file and zeros.
  void need(std::size_t bytes) {
    if (static_cast<std::size_t>(end_ - at_) < bytes && !ended_) refill(bytes);
  }
  void refill(std::size_t bytes);
  /// What was read was there.
  void whole(const char* within) const {
    if (at_ > end_)
      fail(base_ + static_cast<std::uint64_t>(end_ - buffer_.data()),
           fmt::format("the log ends within {}, expected the rest of it", within));
  }

  unsigned u8() { return static_cast<unsigned char>(*at_++); }
  std::uint64_t varint() {
    std::uint64_t value = u8();
    if (value < 0x80) return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      const std::uint64_t byte = u8();
      if (shift == 63 && byte > 1)
        fail(offset() - kVarint, "a number above 64 bits, expected none");
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  std::uint64_t up_to(std::uint64_t most, const char* what, std::uint64_t least = 0) {
    const std::uint64_t start = offset(), value = varint();
    if (value < least || value > most)
      fail(start, fmt::format("{}, expected {} from {} to {}", value, what, least, most));
    return value;
  }
  std::int64_t signed_up_to(std::int64_t most, const char* what) {
    const std::uint64_t start = offset();
    const auto value = static_cast<std::int64_t>(unfolded(varint(), 0));
    if (value > most || value < -most - 1)
      fail(start, fmt::format("{}, expected {} from {} to {}", value, what, -most - 1, most));
    return value;
  }
  template <class Code>
  Code code(Code last, const char* what) {
    const unsigned value = u8();
    if (value > static_cast<unsigned>(last))
      fail(offset() - 1, fmt::format("byte {}, expected {} from 0 to {}", value, what,
                                     static_cast<unsigned>(last)));
    return static_cast<Code>(value);
  }
  std::uint64_t fixed(unsigned width) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < width; ++i)
      value |= std::uint64_t{u8()} << (8 * i);
    return value;
  }
  double share(const char* what) {
    const std::uint64_t start = offset();
    const double value = std::bit_cast<double>(fixed(8));
    if (!std::isfinite(value) || value < 0)
      fail(start, fmt::format("{}, expected {}", value, what));
    return value;
  }
  void text(std::string& value, const char* what) {
    const std::size_t length = up_to(kMostText, what);
    need(length + kRecord);
    if (at_ > end_ || static_cast<std::size_t>(end_ - at_) < length) {
      at_ = end_ + 1;
      whole(what);
    }
    value.assign(at_, length);
    at_ += length;
  }

  void record(unsigned tag, LogEvent& event);
  void declared(LogEvent& event);
  void time(unsigned tag, LogEvent& event);
  void range(Access& access, std::uint64_t least);
  void access(unsigned tag, LogEvent& event);
  void id(LogEvent& event);
  void command(LogEvent& event);
  void end();
  void no_flags(unsigned tag, unsigned allowed) const {
    if ((tag & ~kKindMask & ~allowed) != 0)
      fail(offset() - 1, fmt::format("byte {:#04x}, expected a kind of record without some of "
                                     "these flags",
                                     tag));
  }
  Last::Gpu& last() { return last_.gpus[last_.gpu]; }

  Fill fill_;
  std::string file_;
  std::vector<char> buffer_ = std::vector<char>(kBuffer + kMostText + kRecord);
  const char *at_ = buffer_.data(), *end_ = buffer_.data();
  const char* hashed_ = buffer_.data();
  std::uint64_t base_ = 0; ///< offset in the file of the buffer's first byte
  bool ended_ = false;
  XXH3_state_t* hash_;
  std::uint64_t version_ = kVersion;
  Last last_;
  std::uint64_t records_ = 0, tiers_ = 0;
};

void LogReader::Decoder::refill(std::size_t bytes) {
  XXH3_64bits_update(hash_, hashed_, static_cast<std::size_t>(at_ - hashed_));
  const auto gone = static_cast<std::size_t>(at_ - buffer_.data());
  auto left = static_cast<std::size_t>(end_ - at_);
  std::memmove(buffer_.data(), at_, left);
  base_ += gone;
  const std::size_t most = kBuffer + kMostText;
  while (left < std::max(bytes, kBuffer) && !ended_) {
    const std::size_t come = fill_(buffer_.data() + left, most - left);
    ended_ = come == 0;
    left += come;
  }
  at_ = hashed_ = buffer_.data();
  end_ = at_ + left;
  if (ended_) std::fill_n(buffer_.begin() + static_cast<std::ptrdiff_t>(left), kRecord, '\0');
}

LogHeader LogReader::Decoder::header() {
  need(kRecord);
  if (static_cast<std::size_t>(end_ - at_) < kMagic.size() ||
      std::string_view(at_, kMagic.size()) != kMagic)
    fail(0, "this is no command log, expected a file that replay --log-out wrote");
  at_ += kMagic.size();
  version_ = up_to(kVersion, "a version of the format", 1);
  LogHeader header;
  const std::uint64_t page_at = offset();
  header.page.count = up_to(std::uint64_t{1} << 40, "the size of a page", 1);
  if (!std::has_single_bit(header.page.count))
    fail(page_at, fmt::format("a page of {} bytes, expected a power of two", header.page.count));
  header.packing.bits = static_cast<std::uint32_t>(up_to(64, "bits of a packed value", 1));
  header.packing.group = static_cast<std::uint32_t>(up_to(UINT32_MAX, "values a group", 1));
  header.packing.metadata.count = up_to(header.page.count, "bytes of a group's metadata");
  header.coherence.pool_writes = code(PoolWrites::staged, "how pools are written");
  header.coherence.forward_from_staging = code(1, "whether staged bytes are read") != 0;
  header.coherence.staging.count = varint();
  header.degrading.below = header.degrading.errors = 0;
  if (version_ > 1) {
    header.degrading.below = share("a share of a rate");
    header.degrading.recover_above = share("a share of a rate");
    header.degrading.recover_after.count =
        static_cast<std::int64_t>(up_to(INT64_MAX / 2, "a time"));
    header.degrading.errors = share("a share of packets");
  }
  header.tiers.resize(up_to(kMostTiers, "tiers"));
  tiers_ = header.tiers.size();
  for (LogHeader::Tier& tier : header.tiers) {
    need(kRecord);
    text(tier.name, "the name of a tier");
    tier.kind = code(policy::TierClass::host, "the class of a tier");
    tier.frames = up_to(std::uint64_t{1} << 48, "frames of a tier");
    whole("the header");
  }
  header.gpus.resize(up_to(kMostGpus, "GPUs", 1));
  for (LogHeader::Gpu& gpu : header.gpus) {
    need(kRecord);
    text(gpu.policy, "the policy of a GPU");
    for (std::size_t t = 0; t < header.tiers.size(); ++t) {
      need(kRecord);
      LogHeader::Reach tier;
      tier.reached = code(1, "whether a tier is reached") != 0;
      tier.rate.value = share("the rate of a tier");
      whole("the header");
      gpu.tiers.push_back(tier);
    }
  }
  whole("the header");
  last_.gpus.resize(header.gpus.size());
  return header;
}

bool LogReader::Decoder::event(LogEvent& event) {
  need(kRecord);
  event.at = offset();
  if (at_ == end_)
    fail(event.at, "the log ends here, expected a record that says so: it is cut short");
  unsigned tag = u8();
  if ((tag & kKindMask) == kSwitch) {
    no_flags(tag, 0);
    last_.gpu = static_cast<std::uint32_t>(up_to(last_.gpus.size() - 1, "a GPU"));
    event.at = offset();
    tag = u8();
  }
  if ((tag & kKindMask) == kEnd) {
    no_flags(tag, 0);
    end();
    return false;
  }
  if ((tag & kKindMask) > kLastKind || (tag & kKindMask) == kSwitch) // two switches in a row
    fail(event.at,
         fmt::format("byte {:#04x}, expected a kind of record from 0 to {}", tag, kLastKind));
  event.kind = static_cast<Kind>(tag & kKindMask);
  event.gpu = last_.gpu;
  event.number = ++records_;
  record(tag, event);
  whole("a record");
  return true;
}

void LogReader::Decoder::record(unsigned tag, LogEvent& event) {
  event.now.count = last_.now;
  switch (event.kind) {
  case Kind::declare:
    no_flags(tag, 0);
    return declared(event);
  case Kind::preload:
  case Kind::release:
    no_flags(tag, 0);
    event.tensor = static_cast<stream::TensorId>(up_to(UINT32_MAX, "a tensor"));
    return;
  case Kind::reserve:
    no_flags(tag, kWrite);
    event.access.write = (tag & kWrite) != 0;
    return range(event.access, 1);
  case Kind::touch:
  case Kind::again:
    return access(tag, event);
  case Kind::sense:
    no_flags(tag, kSameTime);
    time(tag, event);
    event.sensors.now = event.now;
    event.sensors.window.count = static_cast<std::int64_t>(up_to(INT64_MAX / 2, "a window", 1));
    event.sensors.hbm_utilisation = share("a share of HBM's rate");
    event.sensors.sram_hit_rate = share("a share of bytes");
    return;
  case Kind::link:
    no_flags(tag, kSameTime | kHot);
    time(tag, event);
    event.tier = static_cast<TierIndex>(up_to(tiers_ - 1, "a tier"));
    event.condition.rate = share("a share of a rate");
    event.condition.errors = share("a share of packets");
    event.condition.hot = (tag & kHot) != 0;
    return;
  case Kind::serve:
    no_flags(tag, kSameTime);
    time(tag, event);
    event.pages = varint();
    return;
  case Kind::make_room:
    no_flags(tag, kLookAgain);
    event.look_again = (tag & kLookAgain) != 0;
    return;
  case Kind::next: {
    const unsigned asked = (tag & (kFlag[0] | kFlag[1])) >> kAskedShift;
    if (asked > static_cast<unsigned>(Asked::carried))
      fail(event.at, fmt::format("byte {:#04x}, expected one of three questions", tag));
    event.asked = static_cast<Asked>(asked);
    event.given = (tag & kGiven) != 0;
    if (event.given) command(event);
    return;
  }
  case Kind::refused:
  case Kind::quiesced:
    no_flags(tag, kSameTime);
    time(tag, event);
    return id(event);
  case Kind::landed:
    no_flags(tag, kLookAgain);
    event.look_again = (tag & kLookAgain) != 0;
    return id(event);
  case Kind::suspend:
  case Kind::completed:
    no_flags(tag, 0);
    return id(event);
  case Kind::reclaim:
    no_flags(tag, 0);
    range(event.access, 0);
    event.dead.begin = unfolded(varint(), event.access.address);
    event.dead.end = unfolded(varint(), event.access.address);
    return;
  }
}

void LogReader::Decoder::declared(LogEvent& event) {
  stream::Tensor& tensor = event.declared;
  tensor.id = static_cast<stream::TensorId>(up_to(UINT32_MAX, "a tensor"));
  tensor.role = code(stream::Role::workspace, "the role of a tensor");
  tensor.dtype = code(stream::DType::c128, "the type of a tensor's elements");
  tensor.bytes.count = varint();
  tensor.layer = static_cast<std::int32_t>(signed_up_to(INT32_MAX, "a layer"));
  tensor.shape.resize(up_to(kMostDimensions, "dimensions of a tensor"));
  for (std::int64_t& extent : tensor.shape) {
    need(kRecord);
    extent = static_cast<std::int64_t>(unfolded(varint(), 0));
    whole("a record");
  }
  need(kRecord);
  text(tensor.name, "the name of a tensor");
}

void LogReader::Decoder::time(unsigned tag, LogEvent& event) {
  if ((tag & kSameTime) != 0) return;
  const std::uint64_t start = offset();
  const std::uint64_t now = unfolded(varint(), static_cast<std::uint64_t>(last_.now));
  if (now > static_cast<std::uint64_t>(INT64_MAX / 2))
    fail(start, "a time beyond 75 minutes, or before the run, expected one within");
  event.now.count = last_.now = static_cast<std::int64_t>(now);
}

/// Does not reach beyond the last address, nor before the first.
void LogReader::Decoder::range(Access& access, std::uint64_t least) {
  const std::uint64_t start = offset();
  access.address = unfolded(varint(), last().address);
  access.length.count = varint();
  if (access.length.count < least || access.length.count > UINT64_MAX - access.address)
    fail(start, fmt::format("{} bytes from address {}, expected {} or more, below 2^64",
                            access.length.count, access.address, least));
  last().address = access.address + access.length.count;
}

void LogReader::Decoder::access(unsigned tag, LogEvent& event) {
  time(tag, event);
  Access& access = event.access;
  access.write = (tag & kWrite) != 0;
  access.now = event.now;
  range(access, 1);
  if ((tag & kSameStep) == 0) {
    const std::uint64_t start = offset(), step = unfolded(varint(), last().step);
    if (step > UINT32_MAX) fail(start, fmt::format("step {}, expected one below 2^32", step));
    last().step = static_cast<policy::StepNumber>(step);
  }
  access.step = last().step;
  event.digest = static_cast<std::uint32_t>(fixed(4));
}

void LogReader::Decoder::id(LogEvent& event) {
  event.command.id = last().command = unfolded(varint(), last().command);
}

void LogReader::Decoder::command(LogEvent& event) {
  Command& command = event.command;
  id(event);
  const unsigned flags = code(version_ < 2 ? kScan - 1 : 2 * kScan - 1, "flags of a command");
  if ((flags & kScan) != 0) {
    const std::uint64_t id = command.id, start = offset();
    if (flags != kScan) fail(start - 1, fmt::format("byte {}, expected a scan alone", flags));
    command = {};
    command.id = id;
    command.scan = up_to(std::uint64_t{1} << 48, "entries of a scan", 1);
    return;
  }
  command.scan = 0;
  command.blank = (flags & kBlank) != 0;
  command.back = (flags & kBack) != 0;
  command.keep = (flags & kKeep) != 0;
  command.carried = (flags & kCarried) != 0;
  command.sync = (flags & kSync) != 0;
  command.why = static_cast<policy::Order::Why>(flags >> kWhyShift);
  const auto tier = [this] { return static_cast<TierIndex>(up_to(tiers_ - 1, "a tier")); };
  command.from.first = last().page = unfolded(varint(), last().page);
  command.from.count = varint();
  command.from.tier = tier();
  command.from.frame = varint();
  command.from.packed = static_cast<std::uint32_t>(up_to(UINT32_MAX, "bytes of a packed page"));
  command.to = tier();
  command.to_frame = varint();
  command.packed = static_cast<std::uint32_t>(up_to(UINT32_MAX, "bytes of a packed page"));
  command.skip = varint();
  command.bytes = varint();
  command.begun.count = static_cast<std::int64_t>(unfolded(varint(), 0));
}

void LogReader::Decoder::end() {
  const std::uint64_t start = offset();
  if (const std::uint64_t records = varint(); records != records_)
    fail(start, fmt::format("{} records came, expected {}", records_, records));
  XXH3_64bits_update(hash_, hashed_, static_cast<std::size_t>(at_ - hashed_));
  hashed_ = at_;
  const std::uint64_t is = XXH3_64bits_digest(hash_), at = offset(), says = fixed(8);
  whole("its last record");
  if (is != says)
    fail(at, fmt::format("checksum {:016x} does not fit the log, expected {:016x}", says, is));
  need(1);
  if (at_ != end_) fail(offset(), "bytes behind the end of the log, expected none");
}

LogReader::LogReader(Fill fill, std::string file)
    : decoder_(std::make_unique<Decoder>(std::move(fill), std::move(file))),
      header_(decoder_->header()) {}

LogReader::~LogReader() = default;

const std::string& LogReader::file() const {
  return decoder_->file();
}

bool LogReader::next(LogEvent& event) {
  return decoder_->event(event);
}

} // namespace umf::scheduler
