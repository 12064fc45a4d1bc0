#pragma once

#include "model/stream/records.h"
#include "traces/umft/bytes.h"
#include "traces/umft/deltas.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace umf::traces::umft {

/// Throws DecodeFault, as everything here does.
stream::Header decode_header(std::string_view contents);

/// Gives back the records of one frame.
class FrameDecoder {
public:
  /// `contents` must outlive the last next().
  void begin(std::string_view contents);
  std::uint64_t first_record() const { return first_; }
  std::uint64_t records_left() const { return left_; }
  /// False at the frame's end.
  bool next(stream::Record&);

private:
  void get(stream::Tensor&);
  void get(stream::Kernel&);
  void get(stream::Copy&);
  void get(stream::Sync&);
  void get(stream::Request&);
  void get(stream::Mark&);
  void get(stream::Oddity&);
  void get(stream::Access&);
  stream::StreamId stream_id();

  template <class Enum>
  Enum code(const char* what);
  void text(std::string&, const char* what);
  std::uint64_t id();
  std::vector<std::uint64_t> differences(const char* what);
  std::int64_t time(const char* what, std::int64_t& last);
  std::int64_t end_time();

  ByteReader in_;
  std::vector<std::string_view> strings_;
  Deltas last_;
  std::uint64_t first_ = 0;
  std::uint64_t left_ = 0;
};

} // namespace umf::traces::umft
