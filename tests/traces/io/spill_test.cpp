#include "traces/io/spill.h"

#include <catch2/catch.hpp>

#include <string>

using namespace umf;
using namespace umf::traces::io;

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
