#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace umf::traces::umft {

/// Puts contents into a frame: tag, lengths, zstd where it is shorter, checksum.
class FramePacker {
public:
  FramePacker();
  ~FramePacker();
  /// The frame's bytes, valid until the next call.
  std::string_view pack(std::string_view tag, std::string_view contents);

private:
  struct Free {
    void operator()(ZSTD_CCtx_s*) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> zstd_;
  std::string frame_;
};

/// The first bytes of a frame.
struct FrameHead {
  std::string tag;
  std::uint32_t stored = 0; ///< bytes in the file
  std::uint32_t plain = 0;  ///< bytes of the contents
};

/// Throws DecodeFault, offset from the frame's start, for lengths no frame has.
FrameHead parse_frame_head(std::string_view head);

/// Takes contents out of a frame, throwing DecodeFault unless every bit is as it was written.
class FrameUnpacker {
public:
  FrameUnpacker();
  ~FrameUnpacker();
  /// `frame`: head, stored bytes and checksum. The contents are valid until the next
  /// call or until `frame` changes.
  std::string_view unpack(const FrameHead& head, std::string_view frame);

private:
  struct Free {
    void operator()(ZSTD_DCtx_s*) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> zstd_;
  std::string contents_;
};

} // namespace umf::traces::umft
