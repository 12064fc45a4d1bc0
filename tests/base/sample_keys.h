#pragma once

#include "model/base/keys.h"

namespace umf::test {

enum class Row { open, closed };

} // namespace umf::test

template <>
struct umf::EnumNames<umf::test::Row> {
  static constexpr std::pair<std::string_view, test::Row> list[] = {{"open", test::Row::open},
                                                                    {"closed", test::Row::closed}};
};

namespace umf::test {

struct Cache {
  Bytes capacity = 40_MiB;
  BytesPerClock slice_bandwidth{64};
};

/// One key of every type.
struct Tier {
  Bytes capacity;
  BytesPerSecond bandwidth{2.4e12};
  Femtoseconds latency = 95_ns;
  Hertz clock{1.6e9};
  FlopsPerSecond compute{9.89e14};
  PicojoulesPerBit energy{3.9};
  Celsius temperature{45};
  std::uint64_t banks = 16;
  std::uint32_t channels = 8;
  double reserve_ratio = 0.1;
  bool refresh = true;
  std::string behind = "sw0";
  Row row = Row::open;
  std::optional<Bytes> limit;
  std::vector<Femtoseconds> steps = {1_ns, 2_ns};
  std::map<std::string, double> shares = {{"weight", 0.5}};
  Cache cache{50_MiB, {64}};
};

const Component<Tier>& tier_keys();
std::vector<Section> sample_sections();

} // namespace umf::test
