#pragma once

#include "model/base/units.h"

/// What work costs in energy: a figure for each bit, operation or second times how many there
/// were. Each amount is rounded once, to the femtojoule, so that sums of amounts are exact.
namespace umf::energy {

/// Bytes that were read, written or carried.
Femtojoules of(Bytes moved, PicojoulesPerBit each);
/// Bytes on a wire: protocol bytes ride along, so their number need not be whole.
Femtojoules of_wire(double bytes, PicojoulesPerBit each);
Femtojoules of(double flops, PicojoulesPerFlop each);
/// Power drawn for a while: a watt is a femtojoule a femtosecond.
Femtojoules of(Femtoseconds duration, Watts drawn);

} // namespace umf::energy
