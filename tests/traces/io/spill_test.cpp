#include "traces/io/spill.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace umf;
using namespace umf::traces::io;

namespace {

/// Numbers in an order that is neither sorted nor random between runs.
std::uint64_t shuffled(std::uint64_t i) {
  return i * 7919 % 1000;
}

} // namespace

TEST_CASE("records come back sorted by key, equal keys as added, whatever the memory") {
  for (const auto memory : {Bytes{1}, 4_KiB, 1_MiB}) {
    SortedRecords sorted(memory);
    for (std::uint64_t i = 0; i < 3000; ++i)
      sorted.add({shuffled(i)}, std::to_string(i) + std::string(i % 50, 'x'));
    sorted.sort();
    SortedRecords::Key key{};
    std::string_view record;
    std::uint64_t count = 0;
    std::uint64_t last_key = 0;
    std::uint64_t last_number = 0;
    while (sorted.next(key, record)) {
      const auto number = std::stoull(std::string(record));
      REQUIRE(shuffled(number) == key[0]);
      REQUIRE(record.size() == std::to_string(number).size() + number % 50);
      REQUIRE(key[0] >= last_key);
      if (count > 0 && key[0] == last_key) REQUIRE(number > last_number);
      last_key = key[0];
      last_number = number;
      ++count;
    }
    CHECK(count == 3000);
  }
}

TEST_CASE("a log is read again from its start, whatever the memory") {
  for (const auto memory : {Bytes{1}, 4_KiB, 1_MiB}) {
    RecordLog log(memory);
    const std::string large(300000, 'y'); // longer than a window
    log.append("");
    for (int i = 0; i < 1000; ++i)
      log.append(std::to_string(i));
    log.append(large);
    for (int pass = 0; pass < 2; ++pass) {
      log.rewind();
      std::string_view record;
      REQUIRE(log.next(record));
      CHECK(record.empty());
      for (int i = 0; i < 1000; ++i) {
        REQUIRE(log.next(record));
        REQUIRE(record == std::to_string(i));
      }
      REQUIRE(log.next(record));
      CHECK(record == large);
      CHECK_FALSE(log.next(record));
    }
  }
}

TEST_CASE("nothing sorted is nothing") {
  SortedRecords sorted(4_KiB);
  sorted.sort();
  SortedRecords::Key key{};
  std::string_view record;
  CHECK_FALSE(sorted.next(key, record));
}
