#pragma once

#include "hw/dram/controller.h"
#include "hw/dram/timings.h"
#include "model/base/key_context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace umf::hw::dram {

/// Where an access lands. Units are counted over the whole tier, stack by stack; which bits of a
/// stack's units are channel and which pseudo-channel is no matter, for units share nothing. Banks
/// are counted over the unit: (rank · groups + group) · banks + bank.
struct Location {
  std::uint32_t unit = 0, bank = 0, row = 0;
  std::uint32_t column = 0; ///< in accesses
  bool operator==(const Location&) const = default;
};

struct AddressMapOptions {
  Organisation organisation{}; ///< counts are powers of two, but for rows
  std::uint32_t units = 1;     ///< of a stack (HBM) or of a channel (DDR); a power of two
  std::uint32_t stacks = 1;    ///< stacks or channels, any number
  std::vector<std::string> mapping{}, hash{}; ///< as in ControllerConfig; README.md has the syntax
  Bytes interleave{256};
};

/// Bank and rank XORed with the bits of the row in turn, as many as a list of hashes takes: which
/// rows meet in a bank is then no matter of where they lie (permutation-based interleaving).
std::vector<std::string> bank_hash(const Organisation& organisation);

/// Tier addresses to places and back, one to one. Every address from 0 to bytes() − 1 has a
/// place; what lies above has none and must not be asked for.
class AddressMap {
public:
  static constexpr std::size_t kMostSteps = 24, kMostHashes = 8; ///< entries of the lists
  /// The fields of a place are packed into one word: unit from bit 0 on, bank, group and rank side
  /// by side, column, row.
  static constexpr std::uint32_t kBankAt = 14, kColumnAt = 20, kRowAt = 34;

  /// Faults of `mapping`, `hash` and `interleave` go to the context, at those members of the
  /// object at `pointer`; a faulty map must not be asked.
  AddressMap(const AddressMapOptions& options, const std::string& pointer, KeyContext& context);

  Location locate(std::uint64_t address) const {
    std::uint64_t local = address, stack = 0;
    if (stacks_ > 1) {
      const std::uint64_t chunk = address >> interleave_shift_;
      const auto over = static_cast<std::uint64_t>((Wide{chunk} * reciprocal_) >> 64U);
      stack = chunk - over * stacks_;
      local = over << interleave_shift_ | (address & interleave_mask_);
    }
    local >>= access_bits_;
    std::uint64_t packed = 0;
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk)
      packed ^= packed_by_chunk_[chunk][(local >> (8 * chunk)) & 255U];
    return {static_cast<std::uint32_t>(packed % (1U << kBankAt) + stack * units_),
            static_cast<std::uint32_t>(packed >> kBankAt) % (1U << (kColumnAt - kBankAt)),
            static_cast<std::uint32_t>(packed >> kRowAt),
            static_cast<std::uint32_t>(packed >> kColumnAt) % (1U << (kRowAt - kColumnAt))};
  }

  /// The first byte of the access at this place.
  std::uint64_t address_of(const Location& location) const;

  /// Accesses from this address on, at least one, that differ in nothing but their columns, which
  /// count up.
  std::uint32_t together(std::uint64_t address) const {
    return together_ - static_cast<std::uint32_t>(address >> access_bits_) % together_;
  }

  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t units() const { return stacks_ * units_; } ///< of the whole tier

private:
  __extension__ using Wide = unsigned __int128;

  /// Bits of one word that go to bits of another.
  struct Step {
    std::uint64_t mask = 0;
    std::uint32_t from = 0, to = 0;
    std::uint64_t of(std::uint64_t word) const { return ((word >> from) & mask) << to; }
    std::uint64_t back(std::uint64_t word) const { return ((word >> to) & mask) << from; }
  };

  /// The fields of a place of one stack, in one word.
  std::uint64_t pack(std::uint64_t local) const;
  void set_interleave(const AddressMapOptions& options, const std::string& pointer,
                      KeyContext& context);
  void add_step(const Step& step);

  /// Every step is linear over GF(2), so the word is the XOR of what each byte of the address
  /// gives.
  static constexpr std::size_t kChunks = 5;
  std::array<std::array<std::uint64_t, 256>, kChunks> packed_by_chunk_{};
  std::array<Step, kMostSteps> steps_{};   ///< of the address to the packed word
  std::array<Step, kMostHashes> hashes_{}; ///< within the packed word
  std::size_t step_count_ = 0, hash_count_ = 0;
  std::uint32_t stacks_ = 1, units_ = 1, interleave_shift_ = 0, access_bits_ = 0;
  std::uint32_t together_ = 1; ///< a power of two
  std::uint64_t interleave_mask_ = 0, reciprocal_ = 0, bytes_ = 0;
};

} // namespace umf::hw::dram
