#include "model/base/error.h"
#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>
#include <limits>
#include <sys/resource.h>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using traces::umft::Reader;
using traces::umft::Writer;

namespace {

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

// A sanitizer keeps freed memory back, up to 256 MiB of it.
#ifdef __SANITIZE_ADDRESS__
#define UMF_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UMF_TEST_SANITIZED
#endif
#endif

#ifdef UMF_TEST_SANITIZED
constexpr long kGrowthKib = 384 * 1024;
#else
constexpr long kGrowthKib = 8 * 1024;
#endif

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

} // namespace

TEST_CASE("an interrupted writer leaves no file and an older one as it was") {
  const TemporaryFolder folder;
  put_bytes(folder / "a.umft", "older");
  {
    Writer writer(folder / "a.umft", {});
    writer.write(Mark{1, "begun"});
    REQUIRE(files_in(folder) == 2);
    REQUIRE(bytes_of(folder / "a.umft") == "older");
  }
  REQUIRE(files_in(folder) == 1);
  REQUIRE(bytes_of(folder / "a.umft") == "older");
}

TEST_CASE("a finished writer leaves its file alone in the folder") {
  const TemporaryFolder folder;
  Writer writer(folder / "a.umft", {});
  writer.finish();
  REQUIRE(files_in(folder) == 1);
  REQUIRE(std::filesystem::exists(folder / "a.umft"));
}

TEST_CASE("a folder that is not there is the user's error") {
  const TemporaryFolder folder;
  REQUIRE_THROWS_AS(Writer(folder / "none/a.umft", {}), UserError);
  REQUIRE_THROWS_AS(Writer(folder.path(), {}), UserError);
}

TEST_CASE("figures no reader would take are refused with the record's number") {
  const TemporaryFolder folder;
  Writer writer(folder / "a.umft", {});
  writer.write(Mark{});
  Kernel kernel;
  SECTION("flops") {
    kernel.flops = GENERATE(std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), -1.0);
  }
  SECTION("fraction") {
    kernel.accesses.push_back(make_access(0, Rule::gemm, Bytes{1}, GENERATE(0.0, -0.5, 1.5)));
  }
  REQUIRE_THROWS_WITH(writer.write(kernel), Catch::Contains("record 1: "));
}

TEST_CASE("a million kernels are written and read in little memory") {
  const TemporaryFolder folder;
  constexpr std::uint64_t kKernels = 1'000'000;
  const auto write = [&](std::uint64_t kernels) {
    Writer writer(folder / "a.umft", {});
    Kernel kernel;
    kernel.name = std::string(300, 'n');
    for (kernel.id = 0; kernel.id < kernels; ++kernel.id) {
      kernel.start_ns = static_cast<std::int64_t>(kernel.id * 1000);
      kernel.end_ns = *kernel.start_ns + 900;
      writer.write(kernel);
    }
    writer.finish();
  };
  write(kKernels / 10); // buffers reach their size
  const long before = peak_kib();
  write(kKernels);
  Reader reader(folder / "a.umft");
  std::uint64_t read = 0;
  for (Record record; reader.next(record); ++read) {
  }
  REQUIRE(read == kKernels);
  REQUIRE(peak_kib() - before < kGrowthKib); // the records themselves take 600 MB
}
