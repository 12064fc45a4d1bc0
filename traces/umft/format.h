#pragma once

#include "model/stream/records.h"

#include <cstdint>
#include <string_view>

/// The figures of FORMAT.md, which says what they mean.
namespace umf::traces::umft {

using namespace std::string_view_literals;

inline constexpr std::string_view kMagic = "\x89UMFT\r\n\x1a"sv;
inline constexpr std::string_view kEndMagic = "UMFTEND\n"sv;
inline constexpr std::uint16_t kVersion = 2;

inline constexpr std::size_t kFileHeadBytes = 12;
inline constexpr std::size_t kFrameHeadBytes = 12;
inline constexpr std::size_t kChecksumBytes = 8;
inline constexpr std::size_t kTrailerBytes = 16;

inline constexpr std::string_view kHeaderTag = "HEAD";
inline constexpr std::string_view kRecordsTag = "RECS";
inline constexpr std::string_view kIndexTag = "INDX";

/// A frame is closed once its contents reach this; a frame above the limit is refused.
inline constexpr std::size_t kFrameTarget = std::size_t{1} << 20;
inline constexpr std::size_t kFrameLimit = std::size_t{64} << 20;

enum class Code : std::uint8_t {
  tensor = 1,
  kernel,
  copy,
  sync,
  alloc,
  free,
  request,
  mark,
  oddity,
  free_part ///< since version 2
};

namespace kernel_flag {
enum : std::uint64_t {
  op = 1,
  issue = 2,
  start = 4,
  end = 8,
  geometry = 16,
  resources = 32,
  layer = 64,
  flops = 128,
  accesses = 256,
  all = 511
};
}

namespace access_flag {
enum : std::uint8_t { write = 1, fraction = 2, blocks = 4, addresses = 8, all = 15 };
}

namespace copy_flag {
enum : std::uint8_t {
  peer = 1,
  issue = 2,
  start = 4,
  end = 8,
  bytes = 16,
  source = 32,
  destination = 64,
  all = 127
};
}

namespace sync_flag {
enum : std::uint8_t { awaited = 1, host_waits = 2, start = 4, end = 8, all = 15 };
}

namespace index_flag {
enum : std::uint8_t { kernels = 1, times = 2, all = 3 };
}

/// Enumerators known to this version; their codes are their positions, frozen by FORMAT.md.
template <class Enum>
inline constexpr std::uint8_t kCodes = 0;
template <>
inline constexpr std::uint8_t kCodes<Code> = 11;
template <>
inline constexpr std::uint8_t kCodes<stream::Role> = 8;
template <>
inline constexpr std::uint8_t kCodes<stream::DType> = 18;
template <>
inline constexpr std::uint8_t kCodes<stream::Phase> = 4;
template <>
inline constexpr std::uint8_t kCodes<stream::Launch> = 3;
template <>
inline constexpr std::uint8_t kCodes<stream::Pattern> = 3;
template <>
inline constexpr std::uint8_t kCodes<stream::CopyKind> = 7;
template <>
inline constexpr std::uint8_t kCodes<stream::Rule> = static_cast<std::uint8_t>(stream::kLastRule) +
                                                     1;

} // namespace umf::traces::umft
