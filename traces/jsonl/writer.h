#pragma once

#include "model/stream/records.h"
#include "traces/whole_file.h"

#include <filesystem>
#include <fmt/format.h>

namespace umf::traces::jsonl {

/// Writes a trace as JSON lines (README.md). The file appears with finish() and not before.
/// Throws UserError when it cannot be written or a figure is not finite.
class Writer : public stream::Sink {
public:
  Writer(const std::filesystem::path& path, const stream::Header& header);
  void write(const stream::Record&) override;
  void finish() override;

private:
  void write_line();

  WholeFile file_;
  fmt::memory_buffer line_;
  std::uint64_t records_ = 0;
};

} // namespace umf::traces::jsonl
