#pragma once

#include "model/base/keys.h"

/// What tiers and links declare alike of their energy keys: help, range and where the default
/// comes from.
namespace umf::hw {

/// "read_energy" of DDR5 media (default 15 pJ/bit).
KeyOptions<PicojoulesPerBit> ddr5_read_energy_key();
/// "write_energy" that nobody measured apart: the default of reads.
KeyOptions<PicojoulesPerBit> write_energy_key();
/// "energy" of a serial link, either direction (default 5.5 pJ/bit).
KeyOptions<PicojoulesPerBit> link_energy_key();

} // namespace umf::hw
