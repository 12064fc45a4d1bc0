#pragma once

#include "model/stream/records.h"

#include <filesystem>
#include <functional>
#include <memory>

namespace umf::app {

/// Thrown when the user asked to stop.
struct Interrupted {};

/// Throws UserError for a pipe or a terminal: traces are read more than once.
void refuse_pipe(const std::filesystem::path& trace);

/// Opens a trace of any format. Its next() throws Interrupted once `stop` says so; pipes, which
/// could not be opened again after a look at their first bytes, are a UserError like every fault.
/// `shapes_from` names a trace that says what kernels without operator do; empty: none.
std::unique_ptr<stream::Source> open_source(const std::filesystem::path& trace,
                                            std::function<bool()> stop,
                                            const std::filesystem::path& shapes_from = {});

} // namespace umf::app
