#include <catch2/catch.hpp>

#include "tests/traces/address/reading.h"

#include <zlib.h>

using namespace umf;
using namespace umf::test;
using traces::address::Form;
using traces::io::Input;

namespace {

Reader open(const std::string& text) {
  return Reader(Input::from_memory("t", text));
}

std::string gzip(const std::string& text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
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

} // namespace

TEST_CASE("a DRAMsim3 line is an address, an operation and the cycle it arrives in") {
  check_requests("0x2000D5C0 READ  30\n0x1FF96FC0 WRITE   160\n0xffffffffffffffff READ 160\n",
                 {{0x2000D5C0, 30, false}, {0x1FF96FC0, 160, true}, {~0ULL, 160, false}});
  CHECK(open("0x0 READ 0").timed());
  CHECK_FALSE(open("0x0 READ 0").gaps());
}

TEST_CASE("operations of DRAMsim3 are known in upper and lower case") {
  const auto [name, write] = GENERATE(table<std::string, bool>({{"READ", false},
                                                                {"Read", false},
                                                                {"read", false},
                                                                {"P_MEM_RD", false},
                                                                {"P_FETCH", false},
                                                                {"IFETCH", false},
                                                                {"WRITE", true},
                                                                {"write", true},
                                                                {"Write", true},
                                                                {"P_MEM_WR", true},
                                                                {"BOFF", true},
                                                                {"P_LOCK_RD", false}}));
  CAPTURE(name);
  check_requests("0x40 " + name + " 7\n", {{0x40, 7, write}});
}

TEST_CASE("load/store and read/write lines have no time") {
  check_requests("LD 0x100000\nST 0x1102C0\nld 0x40\n",
                 {{0x100000, 0, false}, {0x1102C0, 0, true}, {0x40, 0, false}});
  check_requests("0x100000 R\n0X1102c0 W\n", {{0x100000, 0, false}, {0x1102C0, 0, true}});
  for (const std::string text : {"LD 0x40", "0x40 W"}) {
    CHECK_FALSE(open(text).timed());
    CHECK_FALSE(open(text).gaps());
  }
}

TEST_CASE("an instruction line is a load behind its bubbles and perhaps a store") {
  check_requests(
      "3 20734016\n8 20841280 20841344\n0 18446744073709551615\n",
      {{20734016, 3, false}, {20841280, 8, false}, {20841344, 0, true}, {~0ULL, 0, false}});
  CHECK(open("3 20734016").gaps());
  CHECK_FALSE(open("3 20734016").timed());
}

TEST_CASE("the first line that counts says the form") {
  const std::string before = "\n# made by hand\n \t\n";
  CHECK(open(before + "0x40 READ 1").form() == Form::dramsim3);
  CHECK(open(before + "LD 0x40").form() == Form::load_store);
  CHECK(open(before + "0x40 R").form() == Form::read_write);
  CHECK(open(before + "1 64").form() == Form::instructions);
}

TEST_CASE("blanks, comments and ends of lines of either kind are no requests") {
  check_requests("\r\n  # a comment\r\n\t0x40\tREAD\t1 \r\n\n#x\n0x80 WRITE 2",
                 {{0x40, 1, false}, {0x80, 2, true}});
}

TEST_CASE("a trace longer than the reader's block, plain or compressed, gives every request") {
  constexpr std::uint64_t lines = 20000; // 500 KB, eight blocks
  std::string text;
  for (std::uint64_t i = 0; i < lines; ++i)
    text += "0x" + std::to_string(10000000 + i) + " READ " + std::to_string(i) + "\n";
  const bool compressed = GENERATE(false, true);
  const Reading reading = read_through(compressed ? gzip(text) : text);
  REQUIRE(reading.error.empty());
  REQUIRE(reading.requests.size() == lines);
  for (std::uint64_t i = 0; i < lines; ++i)
    if (reading.requests[i].cycle_or_gap != i) FAIL("request " << i);
}

TEST_CASE("what looks like an address trace is told from other texts") {
  using traces::address::looks_like_address;
  for (const std::string text :
       {"0x40 READ 1\n", "# c\n\nLD 0x40", "0x40 R\n", "3 64\n", "3 64 128\n",
        // Meant as one, so that the fault is named:
        "R 0,0,1,2,3,4\n", "40 READ 1", "0x40", "-1 64", "0xZZ READ 1"})
    CHECK(looks_like_address(text));
  for (const std::string text : {"", "\n", "# only this", "hello", "{\"a\":1}", "[1, 2]", "1,2,3",
                                 "to be or not to be", "R 64", "3.5 64", "READ 0x40"})
    CHECK_FALSE(looks_like_address(text));
  CHECK_FALSE(looks_like_address(std::string("\0\1\2\3", 4)));
}
