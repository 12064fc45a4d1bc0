#include "model/base/error.h"
#include "model/scheduler/log.h"
#include "model/scheduler/log_format.h"

#include <xxhash.h>

#include <bit>
#include <utility>

namespace umf::scheduler {

using namespace log_format;
using Kind = LogEvent::Kind;

/// Bytes on their way, and what the next ones are relative to.
class LogWriter::Encoder {
public:
  Encoder(const LogHeader& header, Sink sink) : sink_(std::move(sink)), hash_(XXH3_createState()) {
    ensure(hash_ != nullptr, "no memory for a checksum");
    XXH3_64bits_reset(hash_);
    bytes_.reserve(kBuffer + kMostText);
    last_.gpus.resize(header.gpus.size());
    write(header);
  }
  ~Encoder() { XXH3_freeState(hash_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void begin(std::uint32_t gpu, Kind kind, unsigned flags = 0) {
    if (bytes_.size() >= kBuffer) flush();
    if (last_.gpu != gpu) {
      u8(kSwitch);
      varint(gpu);
      last_.gpu = gpu;
    }
    u8(static_cast<unsigned>(kind) | flags);
    ++records_;
  }
  /// The same with a time, if it is not that of the record before.
  void begin_at(Femtoseconds now, std::uint32_t gpu, Kind kind, unsigned flags = 0) {
    const bool same_time = now.count == last_.now;
    begin(gpu, kind, flags | (same_time ? kSameTime : 0));
    if (same_time) return;
    varint(folded(static_cast<std::uint64_t>(now.count), static_cast<std::uint64_t>(last_.now)));
    last_.now = now.count;
  }
  void range(std::uint64_t address, Bytes length) {
    varint(folded(address, last().address));
    varint(length.count);
    last().address = address + length.count;
  }
  void id(const Command& command) {
    varint(folded(command.id, last().command));
    last().command = command.id;
  }
  void whole(const Command& command) {
    id(command);
    u8((command.blank ? kBlank : 0) | (command.back ? kBack : 0) | (command.keep ? kKeep : 0) |
       (command.carried ? kCarried : 0) | (command.sync ? kSync : 0) |
       static_cast<unsigned>(command.why) << kWhyShift | (command.scan > 0 ? kScan : 0));
    if (command.scan > 0) return varint(command.scan);
    varint(folded(command.from.first, last().page));
    last().page = command.from.first;
    varint(command.from.count);
    varint(command.from.tier);
    varint(command.from.frame);
    varint(command.from.packed);
    varint(command.to);
    varint(command.to_frame);
    varint(command.packed);
    varint(command.skip);
    varint(command.bytes);
    varint(folded(static_cast<std::uint64_t>(command.begun.count), 0));
  }
  Last::Gpu& last() { return last_.gpus[last_.gpu]; }
  const Last::Gpu& last_of(std::uint32_t gpu) const { return last_.gpus[gpu]; }

  void u8(unsigned value) { bytes_.push_back(static_cast<char>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    u8(static_cast<unsigned>(value));
  }
  void fixed(std::uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
      u8(static_cast<unsigned>(value >> (8 * i)) & 0xff);
  }
  void real(double value) { fixed(std::bit_cast<std::uint64_t>(value), 8); }
  void text(std::string_view value) {
    ensure(value.size() <= kMostText, "a text too long for a log");
    varint(value.size());
    bytes_ += value;
  }

  void finish() {
    u8(kEnd);
    varint(records_);
    flush();
    fixed(XXH3_64bits_digest(hash_), 8);
    sink_(bytes_);
    bytes_.clear();
  }

private:
  void write(const LogHeader& header) {
    bytes_ += kMagic;
    varint(kVersion);
    varint(header.page.count);
    varint(header.packing.bits);
    varint(header.packing.group);
    varint(header.packing.metadata.count);
    u8(static_cast<unsigned>(header.coherence.pool_writes));
    u8(header.coherence.forward_from_staging);
    varint(header.coherence.staging.count);
    real(header.degrading.below);
    real(header.degrading.recover_above);
    varint(static_cast<std::uint64_t>(header.degrading.recover_after.count));
    real(header.degrading.errors);
    varint(header.tiers.size());
    for (const LogHeader::Tier& tier : header.tiers) {
      text(tier.name);
      u8(static_cast<unsigned>(tier.kind));
      varint(tier.frames);
    }
    varint(header.gpus.size());
    for (const LogHeader::Gpu& gpu : header.gpus) {
      ensure(gpu.tiers.size() == header.tiers.size(), "a log's GPU does not have all tiers");
      text(gpu.policy);
      for (const LogHeader::Reach& tier : gpu.tiers) {
        u8(tier.reached);
        real(tier.rate.value);
      }
    }
  }
  void flush() {
    XXH3_64bits_update(hash_, bytes_.data(), bytes_.size());
    sink_(bytes_);
    bytes_.clear();
  }

  Sink sink_;
  std::string bytes_;
  XXH3_state_t* hash_;
  Last last_;
  std::uint64_t records_ = 0;
};

/// What one GPU's brain is told.
class LogWriter::GpuTap : public Tap {
public:
  GpuTap(Encoder& out, std::uint32_t gpu) : out_(out), gpu_(gpu) {}

  void declared(const stream::Tensor& tensor) override {
    out_.begin(gpu_, Kind::declare);
    out_.varint(tensor.id);
    out_.u8(static_cast<unsigned>(tensor.role));
    out_.u8(static_cast<unsigned>(tensor.dtype));
    out_.varint(tensor.bytes.count);
    out_.varint(folded(static_cast<std::uint64_t>(tensor.layer), 0));
    ensure(tensor.shape.size() <= kMostDimensions, "a shape too long for a log");
    out_.varint(tensor.shape.size());
    for (const std::int64_t extent : tensor.shape)
      out_.varint(folded(static_cast<std::uint64_t>(extent), 0));
    out_.text(tensor.name);
  }
  void preloaded(stream::TensorId tensor) override {
    out_.begin(gpu_, Kind::preload);
    out_.varint(tensor);
  }
  void reserved(const Access& access) override {
    out_.begin(gpu_, Kind::reserve, access.write ? kWrite : 0);
    out_.range(access.address, access.length);
  }
  void released(stream::TensorId tensor) override {
    out_.begin(gpu_, Kind::release);
    out_.varint(tensor);
  }
  void touched(const Access& access, std::span<const PageRun> runs) override {
    resolved(Kind::touch, access, runs);
  }
  void asked_again(const Access& access, std::span<const PageRun> runs) override {
    resolved(Kind::again, access, runs);
  }
  void sensed(const policy::Sensors& sensors) override {
    out_.begin_at(sensors.now, gpu_, Kind::sense);
    out_.varint(static_cast<std::uint64_t>(sensors.window.count));
    out_.real(sensors.hbm_utilisation);
    out_.real(sensors.sram_hit_rate);
  }
  void link_changed(TierIndex tier, const Condition& condition, Femtoseconds now) override {
    out_.begin_at(now, gpu_, Kind::link, condition.hot ? kHot : 0);
    out_.varint(tier);
    out_.real(condition.rate);
    out_.real(condition.errors);
  }
  void served_faults(std::uint64_t pages, Femtoseconds now) override {
    out_.begin_at(now, gpu_, Kind::serve);
    out_.varint(pages);
  }
  void made_room(bool look_again) override {
    out_.begin(gpu_, Kind::make_room, look_again ? kLookAgain : 0);
  }
  void gave(Asked asked, const Command* command) override {
    out_.begin(gpu_, Kind::next,
               static_cast<unsigned>(asked) << kAskedShift | (command != nullptr ? kGiven : 0));
    if (command != nullptr) out_.whole(*command);
  }
  void refused(const Command& command, Femtoseconds now) override {
    out_.begin_at(now, gpu_, Kind::refused);
    out_.id(command);
  }
  void landed(const Command& command, bool look_again) override {
    out_.begin(gpu_, Kind::landed, look_again ? kLookAgain : 0);
    out_.id(command);
  }
  void suspended(const Command& command) override {
    out_.begin(gpu_, Kind::suspend);
    out_.id(command);
  }
  void quiesced(const Command& command, Femtoseconds now) override {
    out_.begin_at(now, gpu_, Kind::quiesced);
    out_.id(command);
  }
  void completed(const Command& command) override {
    out_.begin(gpu_, Kind::completed);
    out_.id(command);
  }
  void reclaimed(std::uint64_t address, Bytes length, memory::Range dead) override {
    out_.begin(gpu_, Kind::reclaim);
    out_.range(address, length);
    out_.varint(folded(dead.begin, address));
    out_.varint(folded(dead.end, address));
  }

private:
  void resolved(Kind kind, const Access& access, std::span<const PageRun> runs) {
    const bool same_step = out_.last_of(gpu_).step == access.step;
    out_.begin_at(access.now, gpu_, kind,
                  (access.write ? kWrite : 0) | (same_step ? kSameStep : 0));
    out_.range(access.address, access.length);
    if (!same_step) out_.varint(folded(access.step, out_.last().step));
    out_.last().step = access.step;
    out_.fixed(digest_of(runs), 4);
  }

  Encoder& out_;
  std::uint32_t gpu_;
};

LogWriter::LogWriter(const LogHeader& header, Sink sink)
    : encoder_(std::make_unique<Encoder>(header, std::move(sink))) {
  for (std::uint32_t g = 0; g < header.gpus.size(); ++g)
    taps_.push_back(std::make_unique<GpuTap>(*encoder_, g));
}

LogWriter::~LogWriter() = default;

Tap& LogWriter::gpu(std::uint32_t index) {
  return *taps_.at(index);
}

void LogWriter::finish() {
  encoder_->finish();
}

} // namespace umf::scheduler
