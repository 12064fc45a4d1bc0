#include "hw/link/wire_rate.h"

#include "model/base/error.h"

namespace umf::hw::link {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kMegatransfers[] = {2500, 5000, 8000, 16000, 32000, 64000};

/// 8 bits × 1e15 fs × whole / (transfers a second × lanes × useful), times `one`.
std::uint64_t byte_time(std::uint32_t generation, std::uint32_t width, std::uint64_t useful,
                        std::uint64_t whole, std::uint64_t one) {
  ensure(generation >= 1 && generation <= 6 && width >= 1, "a link of no PCIe generation or width");
  const Wide numerator = Wide{8} * 1'000'000'000 * whole * one;
  const Wide denominator = Wide{kMegatransfers[generation - 1]} * width * useful;
  return static_cast<std::uint64_t>((numerator + denominator / 2) / denominator);
}

} // namespace

WireRate WireRate::pcie(std::uint32_t generation, std::uint32_t width) {
  if (generation < 6) return lanes(generation, width);
  WireRate rate;
  rate.byte_ = byte_time(generation, width, 236, 256, kOne);
  return rate;
}

WireRate WireRate::lanes(std::uint32_t generation, std::uint32_t width) {
  WireRate rate;
  if (generation <= 2)
    rate.byte_ = byte_time(generation, width, 8, 10, kOne);
  else if (generation <= 5)
    rate.byte_ = byte_time(generation, width, 128, 130, kOne);
  else
    rate.byte_ = byte_time(generation, width, 1, 1, kOne);
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
