#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/shared_data.h"

#include <cstdlib>
#include <iostream>

namespace umf::test {

namespace {
bool skipped = false;
constexpr int kSkipped = 77;
} // namespace

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

// SystemC's library refers to this symbol even when another main starts the program.
extern "C" int sc_main(int, char**) {
  return 0;
}

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  if (failed != 0) return failed;
  return umf::test::skipped ? umf::test::kSkipped : 0;
}
