#pragma once

#include "model/base/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace umf::traces::io {

/// Bytes in an unlinked temporary file in $TMPDIR, else /tmp: gone when the process
/// ends, however it ends. Throws std::runtime_error when the disk refuses.
class SpillFile {
public:
  SpillFile() = default;
  SpillFile(SpillFile&&) noexcept;
  SpillFile& operator=(SpillFile&&) noexcept;
  ~SpillFile();

  void append(std::string_view bytes);
  /// Up to `most` bytes from `offset`; 0 at the end.
  std::size_t read(std::uint64_t offset, char* to, std::size_t most) const;
  std::uint64_t size() const { return size_; }

private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Records in the order they were added, readable many times. At most `memory` bytes
/// stay in memory; the rest is spilled.
class RecordLog {
public:
  explicit RecordLog(Bytes memory) : memory_(memory) {}

  void append(std::string_view record);
  void rewind();
  /// The next record, valid until the next call.
  bool next(std::string_view& record);

private:
  bool have(std::size_t least);

  Bytes memory_;
  std::string tail_;
  SpillFile file_;
  std::string window_;
  std::size_t window_at_ = 0;
  std::uint64_t file_at_ = 0;
  std::size_t tail_at_ = 0;
};

} // namespace umf::traces::io
