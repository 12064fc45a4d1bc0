#include "model/base/error.h"
#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/jsonl/reader.h"
#include "traces/jsonl/writer.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using namespace umf::traces;

namespace {

void copy(Source& from, Sink& to) {
  for (Record record; from.next(record);)
    to.write(record);
  to.finish();
}

std::string line_of(const Record& record) {
  const TemporaryFolder folder;
  jsonl::Writer writer(folder / "a.jsonl", {});
  writer.write(record);
  writer.finish();
  const std::string text = bytes_of(folder / "a.jsonl");
  return text.substr(text.find('\n') + 1);
}

} // namespace

TEST_CASE("a binary trace comes back from JSON lines byte for byte") {
  const TemporaryFolder folder;
  RandomRecords random(GENERATE(3, 4));
  const Header header = random.header();
  umft::Writer original(folder / "a.umft", header);
  for (int i = 0; i < 20'000; ++i)
    original.write(random.record());
  original.finish();

  umft::Reader binary(folder / "a.umft");
  jsonl::Writer text(folder / "a.jsonl", binary.header());
  copy(binary, text);
  jsonl::Reader lines(folder / "a.jsonl");
  REQUIRE(same(lines.header(), header));
  umft::Writer again(folder / "b.umft", lines.header());
  copy(lines, again);
  REQUIRE(bytes_of(folder / "a.umft") == bytes_of(folder / "b.umft"));
}

TEST_CASE("random records come back from JSON lines as they were written") {
  const TemporaryFolder folder;
  RandomRecords random(5);
  std::vector<Record> records;
  jsonl::Writer writer(folder / "a.jsonl", {});
  for (int i = 0; i < 10'000; ++i)
    writer.write(records.emplace_back(random.record()));
  writer.finish();
  jsonl::Reader reader(folder / "a.jsonl");
  Record read;
  std::size_t equal = 0;
  for (; reader.next(read); ++equal)
    if (!same(read, records.at(equal))) break;
  REQUIRE(equal == records.size());
}

TEST_CASE("defaults are left out and absent is not zero") {
  Copy copy_record;
  REQUIRE(line_of(copy_record) == "{\"record\":\"copy\",\"id\":0}\n");
  copy_record.bytes = Bytes{0};
  copy_record.start_ns = 0;
  REQUIRE(line_of(copy_record) == "{\"record\":\"copy\",\"id\":0,\"start_ns\":0,\"bytes\":0}\n");
  REQUIRE(line_of(Mark{-1, "a\"b\\c\n\x01"}) ==
          "{\"record\":\"mark\",\"time_ns\":-1,\"name\":\"a\\\"b\\\\c\\n\\u0001\"}\n");
}

TEST_CASE("bytes that are not UTF-8 are written in hex") {
  REQUIRE(line_of(Mark{0, "\xff k"}) ==
          "{\"record\":\"mark\",\"time_ns\":0,\"name\":{\"hex\":\"ff206b\"}}\n");
}

TEST_CASE("figures are exact and never infinite") {
  Kernel kernel = make_kernel(std::numeric_limits<KernelId>::max(), "", 0, 0);
  kernel.flops = 0.1;
  REQUIRE(line_of(kernel) == "{\"record\":\"kernel\",\"id\":18446744073709551615,\"start_ns\":0,"
                             "\"end_ns\":0,\"flops\":0.1}\n");
  kernel.flops = GENERATE(std::numeric_limits<double>::infinity(), std::nan(""));
  REQUIRE_THROWS_AS(line_of(kernel), UserError);
}

TEST_CASE("keys may come in any order, with spaces and blank lines between") {
  const TemporaryFolder folder;
  put_bytes(folder / "a.jsonl", "\n{ \"source\" : \"s\", \"umfsim-stream\" : 1 }\r\n  \n"
                                "{\"name\":\"n\",\"record\":\"mark\",\"time_ns\":4}\n\n"
                                "{\"awaited\":{\"stream\":2},\"waiting\":{},\"record\":\"sync\"}");
  jsonl::Reader reader(folder / "a.jsonl");
  REQUIRE(reader.header().source == "s");
  Record record;
  REQUIRE(reader.next(record));
  REQUIRE(same(record, Mark{4, "n"}));
  REQUIRE(reader.next(record));
  REQUIRE(std::get<Sync>(record).awaited == StreamId{0, 2});
  REQUIRE_FALSE(reader.next(record));
}

TEST_CASE("an interrupted writer of JSON lines leaves no file") {
  const TemporaryFolder folder;
  { jsonl::Writer(folder / "a.jsonl", {}).write(Mark{}); }
  REQUIRE(std::filesystem::is_empty(folder.path()));
}
