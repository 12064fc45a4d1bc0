#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>
#include <set>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using traces::umft::Reader;
using traces::umft::Writer;

TEST_CASE("random records of every type come back as they were written") {
  const TemporaryFolder folder;
  constexpr int kRecords = 40'000;
  RandomRecords random(GENERATE(1, 2));
  const Header header = random.header();
  std::vector<Record> records;
  std::set<std::size_t> types;
  Writer writer(folder / "a.umft", header);
  for (int i = 0; i < kRecords; ++i) {
    records.push_back(random.record());
    types.insert(records.back().index());
    writer.write(records.back());
  }
  writer.finish();
  REQUIRE(types.size() == std::variant_size_v<Record>);

  Reader reader(folder / "a.umft");
  REQUIRE(same(reader.header(), header));
  Record read;
  std::size_t equal = 0;
  for (; reader.next(read); ++equal)
    if (!same(read, records.at(equal))) break;
  REQUIRE(equal == records.size());
  REQUIRE_FALSE(reader.next(read));
  REQUIRE(reader.frames().size() > 1);
}

TEST_CASE("an empty trace keeps its header") {
  const TemporaryFolder folder;
  Header header = make_header("kineto", "GPU");
  header.epoch_unix_ns = -5;
  Writer(folder / "a.umft", header).finish();
  Reader reader(folder / "a.umft");
  Record record;
  REQUIRE(same(reader.header(), header));
  REQUIRE_FALSE(reader.next(record));
  REQUIRE(reader.frames().empty());
}

TEST_CASE("the same records give the same bytes") {
  const TemporaryFolder folder;
  for (const char* name : {"a.umft", "b.umft"}) {
    RandomRecords random(7);
    Writer writer(folder / name, random.header());
    for (int i = 0; i < 5000; ++i)
      writer.write(random.record());
    writer.finish();
  }
  REQUIRE(bytes_of(folder / "a.umft") == bytes_of(folder / "b.umft"));
}
