#pragma once

#include "model/stream/records.h"
#include "traces/umft/encoder.h"
#include "traces/umft/frame.h"
#include "traces/whole_file.h"

#include <filesystem>
#include <vector>

namespace umf::traces::umft {

/// Writes a trace in the project's own format (FORMAT.md). The file appears at `path`
/// with finish() and not before. Memory: about two frames, and 64 bytes a frame written.
/// Throws UserError when the file cannot be written or a record cannot be held.
class Writer : public stream::Sink {
public:
  Writer(const std::filesystem::path& path, const stream::Header& header);
  void write(const stream::Record&) override;
  void finish() override;

private:
  void flush();

  WholeFile file_;
  FramePacker packer_;
  FrameEncoder encoder_;
  ByteWriter contents_;
  std::vector<FrameEntry> frames_;
  std::uint64_t records_ = 0;
};

} // namespace umf::traces::umft
