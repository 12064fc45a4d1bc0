#pragma once

#include "model/stream/records.h"

#include <string>

namespace umf::traces {

/// What no format can hold and no consumer expects: fractions outside (0, 1], figures
/// that are not finite, frees of no bytes. "what, expected what", or empty when the record is
/// sound. Readers and writers of every format ask it, so none lets in what another refuses.
std::string fault_of(const stream::Record&);
std::string fault_of(const stream::Header&);

} // namespace umf::traces
