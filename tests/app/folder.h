#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace umf::test {

/// A folder of the test's own, removed with all that is in it.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::string_view bytes) const;
  std::string read(const std::string& name) const;
  /// Everything below it, folders with a '/' behind their name.
  std::set<std::string> entries() const;

private:
  std::filesystem::path path_;
};

/// The whole file; throws where there is none.
std::string bytes_of(const std::filesystem::path& file);

} // namespace umf::test
