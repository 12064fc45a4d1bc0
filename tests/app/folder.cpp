#include "tests/app/folder.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace umf::test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "umfsim-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, std::string_view bytes) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream out(path_ / name, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + name);
}

std::string Folder::read(const std::string& name) const {
  return bytes_of(path_ / name);
}

std::set<std::string> Folder::entries() const {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
    names.insert(entry.path().lexically_relative(path_).string() +
                 (entry.is_directory() ? "/" : ""));
  return names;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("missing file " + file.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace umf::test
