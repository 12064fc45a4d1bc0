#include "model/base/error.h"
#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/convert.h"
#include "traces/registry.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using namespace umf::traces;

TEST_CASE("a trace is told by its content whatever its name") {
  const TemporaryFolder folder;
  for (const std::string extension : {".umft", ".jsonl"}) {
    const auto sink = create_trace(folder / ("a" + extension), make_header("hand"));
    sink->write(Mark{1, "m"});
    sink->finish();
    std::filesystem::rename(folder / ("a" + extension), folder / "trace.json");
    const auto source = open_trace(folder / "trace.json");
    Record record;
    REQUIRE(source->header().format == "hand");
    REQUIRE(source->next(record));
    REQUIRE(same(record, Mark{1, "m"}));
  }
}

TEST_CASE("an unknown trace is refused with the formats there are") {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& bytes) -> std::string {
    put_bytes(folder / "x", bytes);
    try {
      open_trace(folder / "x");
    } catch (const UserError& error) {
      return std::string(error.what()).substr((folder / "x").string().size());
    }
    return "no error";
  };
  REQUIRE(error_of("hello") == ": an unknown trace format, expected one of: umft, umfsim JSON "
                               "lines, mooncake, azure, kineto, address");
  REQUIRE(error_of("") == ": an empty file, expected one of: umft, umfsim JSON lines, mooncake, "
                          "azure, kineto, address");
  REQUIRE_THROWS_AS(open_trace(folder / "missing"), UserError);
}

TEST_CASE("a name's ending says what to write") {
  const TemporaryFolder folder;
  REQUIRE_THROWS_WITH(create_trace(folder / "a.csv", {}),
                      Catch::Contains("ends in \".csv\", expected one of: .umft, .jsonl"));
  REQUIRE_THROWS_AS(create_trace(folder / "umft", {}), UserError);
  REQUIRE(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("converting copies every record and counts them") {
  const TemporaryFolder folder;
  RandomRecords random(11);
  std::array<std::uint64_t, std::variant_size_v<Record>> expected{};
  const auto sink = create_trace(folder / "a.umft", {});
  for (int i = 0; i < 1000; ++i) {
    const Record record = random.record();
    ++expected[record.index()];
    sink->write(record);
  }
  sink->finish();
  const auto source = open_trace(folder / "a.umft");
  const auto copy = create_trace(folder / "b.umft", source->header());
  const RecordCounts counts = convert(*source, *copy);
  REQUIRE(counts.by_type == expected);
  REQUIRE(counts.total() == 1000);
  REQUIRE(counts.of<Kernel>() == expected[Record(Kernel{}).index()]);
  REQUIRE(bytes_of(folder / "a.umft") == bytes_of(folder / "b.umft"));
}
