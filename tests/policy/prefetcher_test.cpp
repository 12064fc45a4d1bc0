#include "model/policy/prefetcher.h"

#include <catch2/catch.hpp>

#include <map>
#include <string>

using namespace umf;
using namespace umf::policy;

/// Pages of 64 KiB; a tensor of n pages has n × 10 rows, so that 10 rows are a page. Tensor t
/// begins at page 1000 t.
namespace {

constexpr Bytes kPage = 64_KiB;

struct Bench {
  std::map<stream::TensorId, memory::AddressSpace::Entry> tensors;
  Prefetcher prefetcher;

  explicit Bench(Prefetcher::Keys keys) : prefetcher(keys) {}

  void touch(stream::TensorId id, std::uint64_t from, std::uint64_t pages,
             std::uint64_t all = 100) {
    auto& entry = tensors[id];
    entry.tensor.id = id;
    entry.tensor.shape = {static_cast<std::int64_t>(all * 10), 8};
    entry.tensor.bytes = {all * kPage.count};
    entry.base = 1000 * id * kPage.count;
    entry.pages = all;
    Touch touch;
    touch.tensor = &entry;
    touch.pages = {1000 * id + from, pages};
    prefetcher.touched(touch, kPage);
  }
  /// "1003-1005" for each range that is wanted, pages included, two at a time.
  std::string wanted() {
    std::string text;
    while (const auto range = prefetcher.next(2))
      text += std::to_string(range->begin) + "-" + std::to_string(range->end - 1) + " ";
    return text;
  }
};

} // namespace

TEST_CASE("consecutive pages of a tensor ask for the window ahead of them, each page once") {
  Bench bench({.trigger = 3, .window = 40}); // four pages
  bench.touch(1, 0, 2);
  CHECK(bench.wanted() == "");
  bench.touch(1, 2, 1);
  CHECK(bench.wanted() == "1003-1004 1005-1006 ");
  bench.touch(1, 3, 1);
  CHECK(bench.wanted() == "1007-1007 ");
}

TEST_CASE("scattered pages ask for nothing") {
  Bench bench({.trigger = 3, .window = 40});
  for (const std::uint64_t page : {0u, 2u, 4u, 6u, 8u, 10u})
    bench.touch(1, page, 1);
  CHECK(bench.wanted() == "");
}

TEST_CASE("what is accessed is not wanted any more") {
  Bench bench({.trigger = 1, .window = 40});
  bench.touch(1, 0, 1); // 1 to 4
  bench.touch(1, 1, 2); // 1 and 2 come too late; 5 and 6 are new
  CHECK(bench.wanted() == "1003-1004 1005-1006 ");
}

TEST_CASE("the window reaches on into what began next the last time") {
  Bench bench({.trigger = 1, .window = 30});
  bench.touch(1, 0, 10, 10);
  bench.touch(2, 0, 10, 10);
  CHECK(bench.wanted() == ""); // nothing is known yet
  for (int pass = 0; pass < 2; ++pass) {
    bench.touch(1, 0, 10, 10);
    CHECK(bench.wanted() == "2000-2001 2002-2002 ");
    bench.touch(2, 0, 10, 10);
    CHECK(bench.wanted() == "1000-1001 1002-1002 "); // which began after it
  }
}

TEST_CASE("tensors that are under way are passed over") {
  Bench bench({.trigger = 1, .window = 20});
  const auto layer = [&](stream::TensorId key, stream::TensorId value) {
    for (std::uint64_t at = 0; at < 10; at += 5) {
      bench.touch(key, at, 5, 10);
      bench.touch(value, at, 5, 10);
    }
  };
  layer(1, 2);
  layer(3, 4);
  bench.wanted();
  bench.touch(1, 0, 5, 10);
  bench.touch(2, 0, 5, 10);
  CHECK(bench.wanted() == "1005-1006 2005-2006 ");
  bench.touch(1, 5, 5, 10); // beyond its end: not 2, which has begun
  CHECK(bench.wanted() == "3000-3001 ");
  bench.touch(2, 5, 5, 10); // 3's window was asked for
  CHECK(bench.wanted() == "4000-4001 ");
}

TEST_CASE("what is asked for a tensor that is gone is forgotten") {
  Bench bench({.trigger = 1, .window = 40});
  bench.touch(1, 0, 1);
  bench.touch(2, 0, 1);
  bench.prefetcher.forget(1);
  CHECK(bench.wanted() == "2001-2002 2003-2004 ");
}

TEST_CASE("the window reaches over so many tensors that begin next, and no more") {
  // Tensor 1 has five pages, those that follow it one each; four pages lie beyond its end.
  const auto [hops, wanted] = GENERATE(table<std::uint32_t, std::string>(
      {{64, "2000-2000 3000-3000 4000-4000 5000-5000 "}, {2, "2000-2000 3000-3000 "}, {0, ""}}));
  Bench bench({.trigger = 1, .window = 40, .hops = hops});
  CAPTURE(hops);
  bench.touch(1, 0, 5, 5);
  for (stream::TensorId id = 2; id <= 5; ++id)
    bench.touch(id, 0, 1, 1);
  bench.wanted();
  bench.touch(1, 0, 5, 5);
  CHECK(bench.wanted() == wanted);
}

TEST_CASE("of the ranges that wait only so many are kept, the last ones") {
  Bench bench({.trigger = 1, .window = 10, .ranges = 2});
  for (stream::TensorId id = 1; id <= 4; ++id)
    bench.touch(id, 0, 1);
  CHECK(bench.wanted() == "3001-3001 4001-4001 ");
}
