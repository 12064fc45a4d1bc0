#pragma once

#include "model/stream/records.h"

#include <string_view>

namespace umf::traces::kineto {

/// Takes from one top-level value what the header says: devices ("deviceProperties") and
/// the epoch ("baseTimeNanoseconds"). Other keys and malformed values change nothing and
/// return false. `text` must be readable 64 bytes past its end.
bool read_preamble(std::string_view key, std::string_view text, stream::Header& header);

} // namespace umf::traces::kineto
