#include "model/base/error.h"
#include "tests/traces/umft/random_records.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using traces::umft::Reader;
using traces::umft::Writer;

namespace {

constexpr std::uint64_t kKernels = 60'000;

/// Kernel n has id 10 n, starts at 100 n and ends 40 later; names too varied to compress
/// into a frame or two.
void write_kernels(const std::filesystem::path& path) {
  Writer writer(path, {});
  for (std::uint64_t n = 0; n < kKernels; ++n) {
    Kernel kernel;
    kernel.id = 10 * n;
    kernel.name = "kernel " + std::to_string(n * n) + std::string(40, 'x');
    kernel.start_ns = static_cast<std::int64_t>(100 * n);
    kernel.end_ns = *kernel.start_ns + 40;
    writer.write(kernel);
  }
  writer.finish();
}

KernelId next_id(Reader& reader) {
  Record record;
  REQUIRE(reader.next(record));
  return std::get<Kernel>(record).id;
}

} // namespace

TEST_CASE("the index says where records, kernels and times are") {
  const TemporaryFolder folder;
  write_kernels(folder / "a.umft");
  Reader reader(folder / "a.umft");
  const auto& frames = reader.frames();
  REQUIRE(frames.size() > 3);
  REQUIRE(frames.front().first_record == 0);
  REQUIRE(frames.back().first_record + frames.back().records == kKernels);
  for (const auto& frame : frames) {
    const std::uint64_t last = frame.first_record + frame.records - 1;
    REQUIRE(frame.kernels->lowest == 10 * frame.first_record);
    REQUIRE(frame.kernels->highest == 10 * last);
    REQUIRE(frame.times->earliest_ns == static_cast<std::int64_t>(100 * frame.first_record));
    REQUIRE(frame.times->latest_ns == static_cast<std::int64_t>(100 * last + 40));
  }
}

TEST_CASE("seeking goes to a record or a kernel, on and back") {
  const TemporaryFolder folder;
  write_kernels(folder / "a.umft");
  Reader reader(folder / "a.umft");
  REQUIRE(next_id(reader) == 0);

  for (const std::uint64_t n : {kKernels - 1, std::uint64_t{0}, kKernels / 2, std::uint64_t{1}}) {
    reader.seek_record(n);
    REQUIRE(next_id(reader) == 10 * n);
    REQUIRE(reader.seek_kernel(10 * n));
    REQUIRE(next_id(reader) == 10 * n);
  }
  REQUIRE_FALSE(reader.seek_kernel(15)); // ids are multiples of ten
  REQUIRE_FALSE(reader.seek_kernel(10 * kKernels));
  REQUIRE(next_id(reader) == 20); // where it was: after record 1

  Record record;
  reader.seek_record(kKernels);
  REQUIRE_FALSE(reader.next(record));
  REQUIRE_THROWS_AS(reader.seek_record(kKernels + 1), UserError);
  reader.seek_record(3);
  std::uint64_t left = 0;
  while (reader.next(record))
    ++left;
  REQUIRE(left == kKernels - 3);
}

TEST_CASE("asking for the index in mid-frame loses no record") {
  const TemporaryFolder folder;
  write_kernels(folder / "a.umft");
  Reader reader(folder / "a.umft");
  for (KernelId id = 0; id < 1000; id += 10)
    REQUIRE(next_id(reader) == id);
  reader.frames();
  REQUIRE(next_id(reader) == 1000);
}
