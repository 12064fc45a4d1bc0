#include "tests/support/shared_data.h"

#include <cstdlib>
#include <iostream>

namespace umf::test {

namespace {
bool skipped = false;
} // namespace

bool lacked_a_file() {
  return skipped;
}

std::filesystem::path shared_root() {
  if (const char* named = std::getenv("UMFSIM_SHARED")) return named;
  return std::filesystem::path(UMF_SOURCE_DIR) / ".." / "shared";
}

std::optional<std::filesystem::path> shared_file(const std::string& relative) {
  const auto root = shared_root();
  if (!std::filesystem::is_directory(root)) {
    std::cout << "skipped: third-party folder " << root << " is absent\n";
    skipped = true;
    return std::nullopt;
  }
  const auto path = root / relative;
  if (!std::filesystem::exists(path)) throw std::runtime_error("missing file " + path.string());
  return path;
}

std::filesystem::path source_file(const std::string& relative) {
  return std::filesystem::path(UMF_SOURCE_DIR) / relative;
}

} // namespace umf::test
