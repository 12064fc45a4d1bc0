#pragma once

#include "model/stream/records.h"
#include "traces/umft/decoder.h"
#include "traces/umft/frame.h"
#include "traces/umft/index.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace umf::traces::umft {

/// Whether a file that begins so claims to be of this format.
bool looks_like_umft(std::string_view first_bytes);

/// Reads a trace in the project's own format (FORMAT.md), front to back and one frame in
/// memory. Only seeking and frames() need an input that can go back.
/// Throws UserError "file@byte: what, expected what". A file cut short gives its whole
/// records first; next() then says how many they were.
class Reader : public stream::Source {
public:
  explicit Reader(const std::filesystem::path&);
  Reader(std::unique_ptr<std::istream> input, std::string name);

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

  /// next() will give record `n`, counted from 0; false when n is the count of records.
  void seek_record(std::uint64_t n);
  /// next() will give the first kernel of that id. False, and nothing moves, if there is none.
  bool seek_kernel(stream::KernelId);
  /// The index, read when first asked for.
  const std::vector<FrameEntry>& frames();

private:
  [[noreturn]] void fail(std::uint64_t byte, const std::string& message) const;
  [[noreturn]] void fail_short(std::uint64_t expected);
  void read_exactly(std::size_t bytes);
  void read_file_head();
  FrameHead read_frame();
  std::string_view unpack(const FrameHead&);
  void next_frame();
  void end_with(std::string_view index);
  void load_index();
  std::uint64_t read_trailer();
  std::uint64_t find_trailer();
  [[noreturn]] void refuse_unfinished();
  void go_to(std::uint64_t byte);
  void open_frame(const FrameEntry&);

  std::unique_ptr<std::istream> in_;
  std::string name_;
  stream::Header header_;
  FrameUnpacker unpacker_;
  FrameDecoder decoder_;
  std::string stored_;            ///< the frame as it lies in the file
  std::uint64_t position_ = 0;    ///< of the next byte to read
  std::uint64_t frame_start_ = 0; ///< of the frame being decoded
  std::uint64_t index_start_ = 0; ///< once read
  std::uint64_t frames_read_ = 0;
  std::uint64_t record_ = 0; ///< ordinal of the next record
  bool ended_ = false;
  std::optional<std::vector<FrameEntry>> index_;
};

} // namespace umf::traces::umft
