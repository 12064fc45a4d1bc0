#pragma once

#include "model/scheduler/log.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// How the log lies in its bytes; for the writer and the reader alone. README.md has the words.
namespace umf::scheduler::log_format {

inline constexpr std::string_view kMagic = "umf-log\n";
/// 2: ways to tiers change, and commands may be scans. Logs of 1 are read.
inline constexpr std::uint64_t kVersion = 2;

/// A record's first byte: what it is, in the low bits, and three flags.
inline constexpr unsigned kKindBits = 5, kKindMask = (1u << kKindBits) - 1;
inline constexpr unsigned kFlag[] = {1u << 5, 1u << 6, 1u << 7};
inline constexpr unsigned kWrite = kFlag[0];    ///< of an access
inline constexpr unsigned kSameTime = kFlag[1]; ///< as the last that is told
inline constexpr unsigned kSameStep = kFlag[2]; ///< of an access, as its GPU's last
inline constexpr unsigned kLookAgain = kFlag[0];
inline constexpr unsigned kHot = kFlag[0];   ///< of a way
inline constexpr unsigned kGiven = kFlag[2]; ///< a command; the other two say what was asked
inline constexpr unsigned kAskedShift = kKindBits;

/// Kinds beside those of LogEvent.
inline constexpr unsigned kSwitch = 16; ///< what follows is another GPU's
inline constexpr unsigned kEnd = 17;
inline constexpr unsigned kLastKind = static_cast<unsigned>(LogEvent::Kind::link);

/// Of a command.
inline constexpr unsigned kBlank = 1, kBack = 2, kKeep = 4, kCarried = 8, kSync = 16, kWhyShift = 5,
                          kScan = 1u << 7; ///< since version 2

inline constexpr std::size_t kBuffer = 1 << 20;
inline constexpr std::size_t kVarint = 10;           ///< bytes, at most
inline constexpr std::size_t kRecord = 32 * kVarint; ///< likewise, texts and lists aside
inline constexpr std::size_t kMostText = 1 << 18, kMostDimensions = 1 << 12, kMostTiers = 1 << 15,
                             kMostGpus = 1 << 10;

/// What is told relative to what came before.
struct Last {
  struct Gpu {
    std::uint64_t address = 0; ///< behind the last access
    policy::StepNumber step = policy::kNoStep;
    CommandId command = 0;
    PageNumber page = 0; ///< of the last command
  };
  std::vector<Gpu> gpus;
  std::uint32_t gpu = 0;
  std::int64_t now = 0;
};

/// Signed differences, small ones short; they wrap.
inline std::uint64_t folded(std::uint64_t value, std::uint64_t base) {
  const std::uint64_t difference = value - base;
  return (difference << 1) ^ (difference >> 63 != 0 ? ~std::uint64_t{0} : 0);
}
inline std::uint64_t unfolded(std::uint64_t bits, std::uint64_t base) {
  return base + ((bits >> 1) ^ ((bits & 1) != 0 ? ~std::uint64_t{0} : 0));
}

} // namespace umf::scheduler::log_format
