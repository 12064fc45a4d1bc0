#include "tests/support/shared_data.h"
#include "tests/traces/kineto/sample.h"

#include <catch2/catch.hpp>

#include <zlib.h>

using namespace umf;
using test::document;
using test::event;
using test::kernel;
using test::read;
using test::refusal;

namespace {

std::string gzipped(const std::string& text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 1024, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a bare array of events is a trace") {
  const auto trace = read(std::string("[") + kernel("k", "1", "2") + "]");
  REQUIRE(trace.records.kernels.size() == 1);
  CHECK(trace.records.kernels[0].start_ns == 1000); // 1 µs
  CHECK(trace.records.kernels[0].end_ns == 3000);   // 1 + 2 µs
}

TEST_CASE("compression is told by content") {
  const auto trace = read(gzipped(document(kernel("k", "1", "2"))));
  CHECK(trace.records.kernels.size() == 1);
}

TEST_CASE("gzip cut short is refused") {
  const auto whole = gzipped(document(kernel("k", "1", "2")));
  const auto message = refusal(whole.substr(0, whole.size() - 6));
  CHECK(contains(message, "sample@"));
  CHECK(contains(message, "expected the rest of its member"));
}

TEST_CASE("JSON cut short is refused wherever the cut is") {
  const auto whole =
      document(kernel("a", "1", "2") + "," + kernel("b", "3", "4"), R"(,"x":[1,"y"])");
  for (std::size_t length = 1; length < whole.size(); ++length) {
    INFO(whole.substr(0, length));
    CHECK(contains(refusal(whole.substr(0, length)), "expected"));
  }
  CHECK(contains(refusal(whole.substr(0, whole.size() - 1)),
                 std::string("sample@") + std::to_string(whole.size() - 1)));
}

TEST_CASE("files that are no trace are refused with what was expected") {
  CHECK(contains(refusal(""), "the file is empty"));
  CHECK(contains(refusal(" \n"), "the file is empty"));
  CHECK(contains(refusal("{}"), "expected \"traceEvents\""));
  CHECK(contains(refusal(R"({"a":{"traceEvents":[]}})"), "expected \"traceEvents\""));
  CHECK(contains(refusal(R"({"traceEvents":3})"), "expected an array"));
  CHECK(contains(refusal("hello"), "expected a Chrome trace"));
  CHECK(contains(refusal("\x7f"
                         "ELF"),
                 "expected a Chrome trace"));
}

TEST_CASE("a trace without events, or without device events, is fine") {
  CHECK(read(document("")).statistics.events == 0);
  CHECK(read("[]").statistics.events == 0);
  const auto trace = read(document(event("cpu_op", "aten::mm", "1", "2", "")));
  CHECK(trace.statistics.events == 1);
  CHECK(trace.records.kernels.empty());
}

TEST_CASE("the base time counts before and after the events") {
  const std::string base = R"("baseTimeNanoseconds":1751410836000000000)";
  for (const auto& text :
       {document(kernel("k", "4.25", "1"), std::string(",") + base),
        std::string("{") + base + R"(,"traceEvents":[)" + kernel("k", "4.25", "1") + "]}"}) {
    const auto trace = read(text);
    CHECK(trace.header.epoch_unix_ns == 1751410836000000000);
    CHECK(trace.records.kernels.at(0).start_ns == 4250); // relative to the base
  }
  CHECK(read(document(kernel("k", "4", "1"))).header.epoch_unix_ns == 0);
}

TEST_CASE("devices are read when present") {
  const auto trace = read(document("", R"(,"deviceProperties":[{"id":3,"name":"","numSms":304,)"
                                       R"("totalGlobalMem":206141652992,"computeMajor":9,)"
                                       R"("computeMinor":4}])"));
  REQUIRE(trace.header.devices.size() == 1);
  const auto& device = trace.header.devices[0];
  CHECK(device.id == 3);
  CHECK(device.name.empty());
  CHECK(device.sms == 304);
  CHECK(device.memory.count == 206141652992);
  CHECK(device.architecture == "sm9.4");
  CHECK(read(document("", R"(,"deviceProperties":"none")")).header.devices.empty());
}

TEST_CASE("unescaped quotes in an INFO list do not lose the document") {
  const auto trace = read(R"({"INFO":["says "hello" there","b"],"traceEvents":[)" +
                          kernel("k", "1", "2") + R"(],"WARNING":["x "y" z"]})");
  CHECK(trace.records.kernels.size() == 1);
}

TEST_CASE("scalars between events and text after the document are counted") {
  const auto trace = read(document("1," + kernel("k", "1", "2") + ",null") + " tail");
  CHECK(trace.records.kernels.size() == 1);
  CHECK(trace.oddity("stray-text") == 3);
}

TEST_CASE("nesting without end stays inside its event") {
  const std::string deep(5000, '[');
  const std::string shut(5000, ']');
  const auto trace =
      read(document(kernel("a", "1", "2", "\"x\":" + deep + shut) + "," + kernel("b", "3", "4")));
  CHECK(trace.statistics.events == 2);
  CHECK(trace.records.kernels.back().name == "b");
  std::string objects;
  for (int i = 0; i < 5000; ++i)
    objects += "{\"a\":";
  CHECK(refusal(std::string("[") + objects).size() > 0);
}

TEST_CASE("a trace is recognised by its first bytes") {
  using traces::kineto::looks_like_kineto;
  CHECK(looks_like_kineto("\n{ \"schemaVersion\": 1"));
  CHECK(looks_like_kineto("[\n {\"ph\""));
  CHECK(looks_like_kineto("[]"));
  CHECK_FALSE(looks_like_kineto("[1,2"));
  CHECK_FALSE(looks_like_kineto("SQLite format 3"));
  CHECK_FALSE(looks_like_kineto(""));
}
