#pragma once

#include "model/base/units.h"
#include "model/stream/records.h"
#include "traces/io/input.h"
#include "traces/kineto/join.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace umf::traces::kineto {

struct Options {
  Bytes memory = 64_MiB; ///< of each sort and log before it spills to a temporary file
  /// A Kineto trace whose kernels say what those here do that have no operator: the capture
  /// of a graph, or an eager run. Empty: none.
  std::filesystem::path shapes_from{};
};

/// Figures of the whole trace that no record carries.
struct Statistics {
  std::uint64_t events = 0; ///< of every kind, also those left out
  JoinCounts joins;
};

class KinetoSource : public stream::Source {
public:
  virtual const Statistics& statistics() const = 0;
};

/// Reads a Kineto (PyTorch profiler) Chrome trace. The whole text is read here, since the
/// base time and the joins need its far end; the records wait in bounded memory and in
/// unlinked temporary files. Times are nanoseconds since the file's base time, or since
/// 1970 where it has none. Throws UserError when the file is no trace or is cut short.
std::unique_ptr<KinetoSource> read_kineto(io::Input input, const Options& options = {});

std::unique_ptr<stream::Source> open_kineto(const std::filesystem::path& path);
/// With shapes from another trace (Options::shapes_from).
std::unique_ptr<stream::Source> open_kineto(const std::filesystem::path& path,
                                            const std::filesystem::path& shapes_from);

/// True when a file that begins with these bytes (after decompression) may be a Chrome
/// trace: an object with a key, or an array of objects.
bool looks_like_kineto(std::string_view first_bytes);

} // namespace umf::traces::kineto
