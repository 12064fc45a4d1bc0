#include "model/energy/energy.h"

#include <cmath>

namespace umf::energy {

namespace {

constexpr double kBits = 8, kFemtoPerPico = 1000;

Femtojoules rounded(double femtojoules) {
  return {static_cast<decltype(Femtojoules::count)>(std::nearbyint(femtojoules))};
}

} // namespace

Femtojoules of(Bytes moved, PicojoulesPerBit each) {
  return of_wire(static_cast<double>(moved.count), each);
}

Femtojoules of_wire(double bytes, PicojoulesPerBit each) {
  return rounded(bytes * kBits * (each.value * kFemtoPerPico));
}

Femtojoules of(double flops, PicojoulesPerFlop each) {
  return rounded(flops * (each.value * kFemtoPerPico));
}

Femtojoules of(Femtoseconds duration, Watts drawn) {
  return rounded(static_cast<double>(duration.count) * drawn.value);
}

} // namespace umf::energy
