#pragma once

#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace umf::traces::umft {

/// Differences wrap modulo 2^64, so every pair of values has one.
inline std::int64_t wrapped_difference(std::int64_t value, std::int64_t base) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                   static_cast<std::uint64_t>(base));
}
inline std::int64_t wrapped_sum(std::int64_t base, std::int64_t difference) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) +
                                   static_cast<std::uint64_t>(difference));
}

/// Appends little-endian and variable-length figures to a string.
class ByteWriter {
public:
  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }

  template <class Unsigned>
  void fixed(Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
      u8(static_cast<std::uint8_t>(value >> (8 * i)));
  }

  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      u8(static_cast<std::uint8_t>(value | 0x80));
    u8(static_cast<std::uint8_t>(value));
  }

  void zigzag(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    varint((bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }

  void real(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }

  void text(std::string_view value) {
    varint(value.size());
    raw(value);
  }

  void raw(std::string_view bytes) { out_.append(bytes); }

  const std::string& bytes() const { return out_; }
  void clear() { out_.clear(); }

private:
  std::string out_;
};

/// Contents that break the format, at an offset into them; the reader adds the file's place.
class DecodeFault : public std::runtime_error {
public:
  DecodeFault(std::size_t offset, const std::string& message)
      : std::runtime_error(message), offset_(offset) {}
  std::size_t offset() const { return offset_; }

private:
  std::size_t offset_;
};

/// Reads what ByteWriter wrote and never past the end. `what` names the field in a fault.
class ByteReader {
public:
  ByteReader() = default;
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t offset() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  std::uint8_t u8(const char* what) {
    if (left() == 0) fail(at_, fmt::format("the contents end, expected {}", what));
    return static_cast<std::uint8_t>(bytes_[at_++]);
  }

  template <class Unsigned>
  Unsigned fixed(const char* what) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
      value |= std::uint64_t{u8(what)} << (8 * i);
    return static_cast<Unsigned>(value);
  }

  std::uint64_t varint(const char* what) {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8(what);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    fail(start, fmt::format("a varint above 64 bits, expected {}", what));
  }

  std::uint32_t varint32(const char* what) {
    const std::size_t start = at_;
    const std::uint64_t value = varint(what);
    if (value > UINT32_MAX) fail(start, fmt::format("{}, expected {} below 2^32", value, what));
    return static_cast<std::uint32_t>(value);
  }

  std::int64_t zigzag(const char* what) {
    const std::uint64_t bits = varint(what);
    return static_cast<std::int64_t>((bits >> 1) ^ (bits & 1 ? ~std::uint64_t{0} : 0));
  }

  std::int32_t zigzag32(const char* what) {
    const std::size_t start = at_;
    const std::int64_t value = zigzag(what);
    if (value < INT32_MIN || value > INT32_MAX)
      fail(start, fmt::format("{}, expected {} of 32 bits", value, what));
    return static_cast<std::int32_t>(value);
  }

  double real(const char* what) { return std::bit_cast<double>(fixed<std::uint64_t>(what)); }

  std::string_view text(const char* what) {
    const std::size_t start = at_;
    const std::uint64_t length = varint(what);
    if (length > left())
      fail(start, fmt::format("{} of {} bytes where {} are left, expected it to fit", what, length,
                              left()));
    const std::string_view value = bytes_.substr(at_, length);
    at_ += length;
    return value;
  }

  /// A count of things of at least `least` bytes each: what cannot be there is refused
  /// before anything is reserved for it.
  std::size_t count(const char* what, std::size_t least) {
    const std::size_t start = at_;
    const std::uint64_t value = varint(what);
    if (value > left() / least)
      fail(start, fmt::format("{} of {} where {} bytes are left, expected it to fit", what, value,
                              left()));
    return value;
  }

  /// A code below `codes`; or flags, `codes` being one above all of them set.
  std::uint8_t code(const char* what, std::uint8_t codes) {
    const std::uint8_t value = u8(what);
    if (value >= codes)
      fail(at_ - 1, fmt::format("byte {:#04x}, expected {} from 0 to {}", value, what, codes - 1));
    return value;
  }

  [[noreturn]] static void fail(std::size_t offset, const std::string& message) {
    throw DecodeFault(offset, message);
  }

private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

} // namespace umf::traces::umft
