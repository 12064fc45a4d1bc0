#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umf::traces {

/// A file that appears whole or not at all: bytes go to a new file beside `path`,
/// finish() renames it over `path`, and destruction without finish() removes it.
/// Every failure of the file system is a UserError that names `path`.
class WholeFile {
public:
  explicit WholeFile(std::filesystem::path path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view bytes);
  void finish();

  std::string name() const { return path_.string(); }
  /// Bytes written so far.
  std::uint64_t position() const { return position_; }

private:
  [[noreturn]] void fail(std::string_view doing) const;

  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  std::FILE* file_ = nullptr;
  std::uint64_t position_ = 0;
};

/// Files as (path, bytes): all are written before the first gets its name, so that a full disk
/// leaves none behind.
using WholeFiles = std::vector<std::pair<std::filesystem::path, std::string>>;
void write_whole(const WholeFiles& files);
/// The same below a folder, which is made where it is not there.
void write_whole(const std::filesystem::path& folder, const WholeFiles& files);

} // namespace umf::traces
