#include "traces/umft/frame.h"

#include "model/base/error.h"
#include "traces/umft/bytes.h"
#include "traces/umft/format.h"

#include <xxhash.h>
#include <zstd.h>

namespace umf::traces::umft {

namespace {
constexpr int kLevel = 3;

std::uint64_t checksum(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
} // namespace

void FramePacker::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

FramePacker::FramePacker() : zstd_(ZSTD_createCCtx()) {
  ensure(zstd_ != nullptr, "zstd gives no compression context");
}
FramePacker::~FramePacker() = default;

std::string_view FramePacker::pack(std::string_view tag, std::string_view contents) {
  ensure(contents.size() <= kFrameLimit, "a frame above its limit");
  frame_.resize(kFrameHeadBytes + ZSTD_compressBound(contents.size()));
  std::size_t stored =
      ZSTD_compressCCtx(zstd_.get(), frame_.data() + kFrameHeadBytes,
                        frame_.size() - kFrameHeadBytes, contents.data(), contents.size(), kLevel);
  ensure(!ZSTD_isError(stored), "zstd cannot compress a frame");
  if (stored >= contents.size()) {
    contents.copy(frame_.data() + kFrameHeadBytes, contents.size());
    stored = contents.size();
  }
  ByteWriter head;
  head.raw(tag);
  head.fixed(static_cast<std::uint32_t>(stored));
  head.fixed(static_cast<std::uint32_t>(contents.size()));
  head.bytes().copy(frame_.data(), kFrameHeadBytes);
  frame_.resize(kFrameHeadBytes + stored);
  ByteWriter sum;
  sum.fixed(checksum(frame_));
  frame_ += sum.bytes();
  return frame_;
}

FrameHead parse_frame_head(std::string_view bytes) {
  FrameHead head;
  head.tag = bytes.substr(0, 4);
  if (head.tag != kHeaderTag && head.tag != kRecordsTag && head.tag != kIndexTag)
    throw DecodeFault(0, fmt::format("no frame starts here, expected \"{}\", \"{}\" or \"{}\"",
                                     kHeaderTag, kRecordsTag, kIndexTag));
  ByteReader lengths(bytes.substr(4));
  head.stored = lengths.fixed<std::uint32_t>("a stored length");
  head.plain = lengths.fixed<std::uint32_t>("a plain length");
  if (head.plain > kFrameLimit)
    throw DecodeFault(
        8, fmt::format("a frame of {} bytes, expected at most {}", head.plain, kFrameLimit));
  if (head.stored > head.plain)
    throw DecodeFault(4, fmt::format("{} stored bytes for {}, expected no more of them",
                                     head.stored, head.plain));
  return head;
}

void FrameUnpacker::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

FrameUnpacker::FrameUnpacker() : zstd_(ZSTD_createDCtx()) {
  ensure(zstd_ != nullptr, "zstd gives no decompression context");
}
FrameUnpacker::~FrameUnpacker() = default;

std::string_view FrameUnpacker::unpack(const FrameHead& head, std::string_view frame) {
  const std::size_t summed = kFrameHeadBytes + head.stored;
  ensure(frame.size() == summed + kChecksumBytes, "a frame cut wrongly");
  const auto found = checksum(frame.substr(0, summed));
  const auto written = ByteReader(frame.substr(summed)).fixed<std::uint64_t>("a checksum");
  if (found != written)
    throw DecodeFault(summed, fmt::format("checksum {:016x}, expected {:016x}: the frame was "
                                          "damaged after it was written",
                                          found, written));
  const std::string_view stored = frame.substr(kFrameHeadBytes, head.stored);
  if (head.stored == head.plain) return stored;
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != head.plain)
    throw DecodeFault(kFrameHeadBytes, fmt::format("stored bytes that do not hold the {} stated, "
                                                   "expected one zstd frame of that length",
                                                   head.plain));
  contents_.resize(head.plain);
  const std::size_t got = ZSTD_decompressDCtx(zstd_.get(), contents_.data(), contents_.size(),
                                              stored.data(), stored.size());
  if (got != head.plain)
    throw DecodeFault(kFrameHeadBytes, "stored bytes that zstd cannot unpack, expected one zstd "
                                       "frame");
  return contents_;
}

} // namespace umf::traces::umft
