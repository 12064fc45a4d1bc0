#include "hw/link/wire_rate.h"

#include "hw/link/generation.h"
#include "model/base/error.h"

namespace umf::hw::link {

namespace {

__extension__ using Wide = unsigned __int128;

/// 8 bits × 1e15 fs × code × flit / (transfers a second × lanes), times `one`.
std::uint64_t byte_time(const Generation& g, std::uint32_t width, bool flits, std::uint64_t one) {
  ensure(width >= 1, "a link without lanes");
  const Wide numerator = Wide{8} * 1'000'000'000 * g.code_whole * (flits ? g.flit : 1) * one;
  const Wide denominator = Wide{g.megatransfers} * width * g.code_useful * (flits ? g.tlp : 1);
  return static_cast<std::uint64_t>((numerator + denominator / 2) / denominator);
}

} // namespace

WireRate WireRate::pcie(std::uint32_t number, std::uint32_t width) {
  WireRate rate;
  rate.byte_ = byte_time(generation(number), width, true, kOne);
  return rate;
}

WireRate WireRate::lanes(std::uint32_t number, std::uint32_t width) {
  WireRate rate;
  rate.byte_ = byte_time(generation(number), width, false, kOne);
  return rate;
}

WireRate WireRate::of(BytesPerSecond bytes_per_second) {
  ensure(bytes_per_second.value > 0, "a link without a rate");
  WireRate rate;
  rate.byte_ =
      static_cast<std::uint64_t>(1e15 * static_cast<double>(kOne) / bytes_per_second.value);
  return rate;
}

BytesPerSecond WireRate::rate() const {
  return {1e15 * static_cast<double>(kOne) / static_cast<double>(byte_)};
}

} // namespace umf::hw::link
