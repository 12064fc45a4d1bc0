#include "tests/traces/kineto/sample.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::document;
using test::event;
using test::kernel;
using test::read;

namespace {

/// A trace of one odd event and a good one after it, which must survive.
test::Read beside_good(const std::string& odd) {
  auto trace = read(document(odd + ",\n  " + kernel("good", "50", "1")));
  REQUIRE_FALSE(trace.records.kernels.empty());
  REQUIRE(trace.records.kernels.back().name == "good");
  return trace;
}

} // namespace

TEST_CASE("bytes that are no UTF-8 are replaced") {
  const auto trace = beside_good(kernel("a\xff\xc3z", "1", "2"));
  CHECK(trace.records.kernels.at(0).name == "a??z");
  CHECK(trace.oddity("invalid-utf8") == 1);
  // The list begins at byte 34: {"schemaVersion":1,"traceEvents":[ has 34 characters.
  CHECK(trace.records.oddities.at("invalid-utf8").first_place == "sample@34");
}

TEST_CASE("raw control characters are replaced") {
  const auto trace = beside_good(kernel("a\x01\nb", "1", "2"));
  CHECK(trace.records.kernels.at(0).name == "a  b");
  CHECK(trace.oddity("raw-control-character") == 1);
}

TEST_CASE("escapes are read, and unknown ones kept as written") {
  const auto good = beside_good(kernel(R"(a\"\u00e9\ud83d\ude00)", "1", "2"));
  CHECK(good.records.kernels.at(0).name == "a\"\xc3\xa9\xf0\x9f\x98\x80");
  const auto bad = beside_good(kernel(R"(C:\Windows\ud800)", "1", "2"));
  CHECK(bad.records.kernels.at(0).name == R"(C:\Windows\ud800)");
  CHECK(bad.oddity("bad-escape") == 1);
}

TEST_CASE("a quote that was not escaped costs its own event only") {
  const auto trace = beside_good(kernel("a\"b", "1", "2"));
  CHECK(trace.records.kernels.size() == 1);
  CHECK(trace.oddity("unparsable-event") == 1);
  CHECK(trace.statistics.events == 2);
}

TEST_CASE("durations that are no finite number leave the event without a time") {
  for (const char* duration : {"NaN", "Infinity", "-Infinity", "null", "\"\""}) {
    INFO(duration);
    const auto trace = beside_good(kernel("odd", "1", duration));
    CHECK_FALSE(trace.records.kernels.at(0).start_ns.has_value());
    CHECK(trace.oddity("bad-duration") == 1);
  }
}

TEST_CASE("a negative duration is taken as zero and said") {
  const auto trace = beside_good(kernel("odd", "5", "-1"));
  CHECK(trace.records.kernels.at(0).start_ns == 5000);
  CHECK(trace.records.kernels.at(0).end_ns == 5000);
  CHECK(trace.oddity("negative-duration") == 1);
}

TEST_CASE("a kernel without a start is kept without a time") {
  const auto trace =
      beside_good(R"({"ph":"X","cat":"kernel","name":"odd","pid":0,"tid":7,"dur":2,"args":{}})");
  CHECK_FALSE(trace.records.kernels.at(0).start_ns.has_value());
  CHECK(trace.oddity("missing-time") == 1);
}

TEST_CASE("times as strings lose nothing") {
  const auto trace = read(document(kernel("k", "\"1623143093553095.1255\"", "\"2.5\"")));
  // .1255 µs = 125.5 ns, rounded up; 2.5 µs = 2500 ns.
  CHECK(trace.records.kernels.at(0).start_ns == 1623143093553095126);
  CHECK(trace.records.kernels.at(0).end_ns == 1623143093553097626);
}

TEST_CASE("integers past 64 bits in fields not used do no harm") {
  const auto trace = read(document(kernel("k", "1", "2", R"("Comms Id":18446744073709551616000)")));
  CHECK(trace.records.kernels.size() == 1);
  CHECK(trace.records.oddities.empty());
}

TEST_CASE("integers past 64 bits in fields that are used are left out and counted") {
  const auto trace = read(document(kernel("k", "1", "2", R"("correlation":99999999999999999999)")));
  CHECK(trace.records.kernels.size() == 1);
  CHECK(trace.oddity("bad-number") == 1);
}

TEST_CASE("a thread named after its stream says the stream") {
  const auto trace = read(
      document(R"({"ph":"X","cat":"Kernel","name":"k","pid":3,"tid":"stream 7","ts":1,"dur":2})"));
  CHECK(trace.records.kernels.at(0).stream == stream::StreamId{3, 7});
}

TEST_CASE("categories of 2021 are known") {
  const auto trace = read(document(event("Kernel", "k", "1", "1", "") + "," +
                                   event("Memcpy", "Memcpy HtoD", "2", "1", "\"bytes\":5") + "," +
                                   event("Memset", "Memset (Device)", "3", "1", "\"bytes\":6")));
  CHECK(trace.records.kernels.size() == 1);
  REQUIRE(trace.records.copies.size() == 2);
  CHECK(trace.records.copies[0].kind == stream::CopyKind::host_to_device);
  CHECK(trace.records.copies[0].bytes == Bytes{5});
  CHECK(trace.records.copies[1].kind == stream::CopyKind::memset);
}

TEST_CASE("a copy that does not say its bytes has none") {
  const auto trace = read(document(event("gpu_memcpy", "Memcpy DtoD", "2", "1", "")));
  CHECK_FALSE(trace.records.copies.at(0).bytes.has_value());
  CHECK(trace.oddity("copy-without-bytes") == 1);
}

TEST_CASE("the last of two equal keys counts") {
  const auto trace = read(document(
      R"({"ph":"X","cat":"kernel","name":"a","name":"b","pid":0,"tid":7,"ts":9,"ts":1,"dur":2})"));
  CHECK(trace.records.kernels.at(0).name == "b");
  CHECK(trace.records.kernels.at(0).start_ns == 1000);
}

TEST_CASE("the order of keys does not matter") {
  const auto trace =
      read(document(R"({"args":{"grid":[4,3,2],"block":[128,1,1],"registers per thread":20,)"
                    R"("shared memory":512,"stream":7,"device":1},"dur":2,"ts":1,"tid":7,"pid":1,)"
                    R"("name":"k","cat":"kernel","ph":"X"})"));
  const auto& k = trace.records.kernels.at(0);
  CHECK(k.grid == std::array<std::uint32_t, 3>{4, 3, 2});
  CHECK(k.block == std::array<std::uint32_t, 3>{128, 1, 1});
  CHECK(k.registers_per_thread == 20);
  CHECK(k.shared_memory.count == 512);
  CHECK(k.stream == stream::StreamId{1, 7});
}

TEST_CASE("a missing grid is zero") {
  const auto trace = read(document(kernel("k", "1", "2", R"("kind":"Dispatch Task")")));
  CHECK(trace.records.kernels.at(0).grid == std::array<std::uint32_t, 3>{});
}

TEST_CASE("names of any length are kept") {
  // The longest name seen in public traces has 5,160 characters.
  const std::string name = std::string(5159, 'x') + "{";
  CHECK(read(document(kernel(name, "1", "2"))).records.kernels.at(0).name == name);
}

TEST_CASE("braces, quotes and backslashes in names do not end an event") {
  const auto trace =
      read(document(kernel(R"(a{}\\\"}\\)", "1", "2") + "," + kernel("b", "3", "1")));
  REQUIRE(trace.records.kernels.size() == 2);
  CHECK(trace.records.kernels[0].name == R"(a{}\"}\)");
}

TEST_CASE("an event split over reads at any place is one event") {
  // The reader takes 256 KiB at a time: blanks move the event over that border.
  for (const std::size_t lead : {262000u, 262100u, 262130u, 262143u, 262144u}) {
    const auto trace = read(document(std::string(lead, ' ') + kernel("k", "1", "2")));
    CHECK(trace.records.kernels.size() == 1);
  }
}
