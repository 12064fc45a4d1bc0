#pragma once

#include "model/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// Records sorted by key, equal keys in the order they were added (external merge
/// sort: sorted runs of at most `memory` bytes, then one k-way merge).
class SortedRecords {
public:
  using Key = std::array<std::uint64_t, 4>;

  explicit SortedRecords(Bytes memory) : memory_(memory) {}

  void add(const Key& key, std::string_view record);
  /// Ends adding. Required before next().
  void sort();
  /// The smallest record left, valid until the next call.
  bool next(Key& key, std::string_view& record);

private:
  struct Entry {
    Key key;
    std::uint64_t sequence;
    std::uint64_t offset;
    std::uint64_t length;
    bool operator<(const Entry& other) const;
  };
  struct Run {
    std::uint64_t at;
    std::uint64_t end;
    std::string window;
    std::size_t window_at = 0;
    Entry head{};
  };

  void sort_memory();
  void write_run();
  bool fill(Run& run, std::size_t least);
  bool load_head(Run& run);
  bool next_in_memory(Key& key, std::string_view& record);

  Bytes memory_;
  std::uint64_t added_ = 0;
  std::string arena_;
  std::vector<Entry> entries_;
  std::size_t next_entry_ = 0;
  SpillFile file_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  std::string current_;
};

} // namespace umf::traces::io
