#include "traces/io/text_pool.h"

#include <catch2/catch.hpp>

#include <string>

using namespace umf;
using namespace umf::traces::io;

TEST_CASE("equal texts share a number, and every text comes back, whatever the memory") {
  // Nothing in memory, some of it, all of it.
  for (const auto memory : {Bytes{0}, 4_KiB, 16_MiB}) {
    TextPool pool(memory);
    const auto text = [](std::size_t i) {
      // Every hundredth is longer than a block (64 KiB).
      return std::to_string(i) + std::string(i % 100 == 99 ? 70000 : i % 50, 'x');
    };
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < 1000; ++i)
        REQUIRE(pool.intern(text(i)) == i);
    CHECK(pool.size() == 1000);
    std::string scratch;
    for (std::size_t i = 0; i < 1000; ++i)
      REQUIRE(pool.view(static_cast<TextPool::Id>(i), scratch) == text(i));
  }
}

TEST_CASE("the empty text is a text like any other") {
  TextPool pool(4_KiB);
  const auto empty = pool.intern("");
  const auto other = pool.intern("other");
  std::string scratch;
  CHECK(pool.view(empty, scratch).empty());
  CHECK(pool.intern("") == empty);
  CHECK(pool.view(other, scratch) == "other");
}
