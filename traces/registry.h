#pragma once

#include "model/stream/records.h"

#include <filesystem>
#include <memory>

namespace umf::traces {

/// Opens a trace of any known format, told by what is in it and never by its name.
/// Throws UserError when it cannot be read or no format knows it; lists those there are.
std::unique_ptr<stream::Source> open_trace(const std::filesystem::path&);

/// Whether it is an address trace (traces/address), which open_trace() refuses: it has no kernels.
bool is_address_trace(const std::filesystem::path&);

/// A Kineto trace whose kernels without operator take their work from the kernels of another
/// of equal name, grid and block (`shapes_from`; empty: as above).
std::unique_ptr<stream::Source> open_trace(const std::filesystem::path&,
                                           const std::filesystem::path& shapes_from);

/// A sink for the format that the name's ending asks for (.umft, .jsonl). The file appears
/// with finish(). Throws UserError for other endings.
std::unique_ptr<stream::Sink> create_trace(const std::filesystem::path&, const stream::Header&);

} // namespace umf::traces
