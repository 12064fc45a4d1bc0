#include <catch2/catch.hpp>

#include "tests/traces/address/reading.h"

using namespace umf;
using namespace umf::test;

namespace {

constexpr const char* kOperations =
    "expected READ, P_MEM_RD, P_FETCH, P_LOCK_RD or IFETCH (a read), or WRITE, P_MEM_WR or BOFF "
    "(a write)";

/// The error of a text whose last line is wrong; all lines before are `good` requests.
void check_error(const std::string& text, std::size_t good, const std::string& error) {
  CAPTURE(text);
  const Reading reading = read_through(text);
  CHECK(reading.error == error);
  CHECK(reading.requests.size() == good);
}

} // namespace

TEST_CASE("a malformed DRAMsim3 line is an error at its column and no request") {
  const auto [line, error] = GENERATE(table<std::string, std::string>({
      {"0x40 REED 2", std::string("t:2:6: operation \"REED\", ") + kOperations},
      {"0x40 P_LOCK_WR 2", std::string("t:2:6: operation \"P_LOCK_WR\", ") + kOperations},
      {"0x40 R 2", std::string("t:2:6: operation \"R\", ") + kOperations},
      {"0x40", std::string("t:2:5: the line ends, ") + kOperations},
      {"0x40 READ", "t:2:10: the line ends, expected a cycle"},
      {"0x40 READ two", "t:2:11: \"two\", expected a cycle in decimal digits"},
      {"0x40 READ -2", "t:2:11: \"-2\", expected a cycle in decimal digits"},
      {"0x40 READ +2", "t:2:11: \"+2\", expected a cycle in decimal digits"},
      {"0x40 READ 2.5", "t:2:11: \"2.5\", expected a cycle in decimal digits"},
      {"0x40 READ 18446744073709551616",
       "t:2:11: \"18446744073709551616\", expected a cycle below 2^64"},
      {"0x40 READ 0", "t:2:11: cycle 0 after cycle 1, expected none to go back"},
      {"0x40 READ 2 3", "t:2:13: \"3\" behind the request, expected the end of the line: 0xADDR "
                        "READ|WRITE CYCLE"},
      {"40 READ 2", "t:2:1: address \"40\", expected hexadecimal digits behind 0x"},
      {"0x READ 2", "t:2:1: address \"0x\", expected hexadecimal digits behind 0x"},
      {"0x4G READ 2", "t:2:1: address \"0x4G\", expected hexadecimal digits behind 0x"},
      {"0x-4 READ 2", "t:2:1: address \"0x-4\", expected hexadecimal digits behind 0x"},
      {"-0x4 READ 2", "t:2:1: address \"-0x4\", expected hexadecimal digits behind 0x"},
      {"0x10000000000000000 READ 2",
       "t:2:1: address \"0x10000000000000000\", expected one below 2^64"},
      {"LD 0x40", "t:2:1: address \"LD\", expected hexadecimal digits behind 0x"},
  }));
  check_error("0x40 READ 1\n" + line + "\n", 1, error);
  check_error("0x40 READ 1\n" + line, 1, error);
}

TEST_CASE("a malformed line of Ramulator is an error at its column and no request") {
  const auto [first, line, error] = GENERATE(table<std::string, std::string, std::string>({
      {"LD 0x40", "LOAD 0x40", "t:2:1: operation \"LOAD\", expected LD or ST"},
      {"LD 0x40", "LD", "t:2:3: the line ends, expected an address such as 0x1F40"},
      {"LD 0x40", "LD 40", "t:2:4: address \"40\", expected hexadecimal digits behind 0x"},
      {"LD 0x40", "ST 0x40 3",
       "t:2:9: \"3\" behind the request, expected the end of the line: "
       "LD|ST 0xADDR"},
      {"0x40 R", "0x40 READ", "t:2:6: operation \"READ\", expected R or W"},
      {"0x40 R", "0x40", "t:2:5: the line ends, expected R or W"},
      {"0x40 R", "0x40 W 3",
       "t:2:8: \"3\" behind the request, expected the end of the line: "
       "0xADDR R|W"},
      {"1 64", "1", "t:2:2: the line ends, expected the address of a load"},
      {"1 64", "-1 64", "t:2:1: \"-1\", expected a count of instructions in decimal digits"},
      {"1 64", "1 -64", "t:2:3: \"-64\", expected the address of a load in decimal digits"},
      {"1 64", "1 0x40", "t:2:3: \"0x40\", expected the address of a load in decimal digits"},
      {"1 64", "1 64 x", "t:2:6: \"x\", expected the address of a store in decimal digits"},
      {"1 64", "1 18446744073709551616",
       "t:2:3: \"18446744073709551616\", expected the address of a load below 2^64"},
      {"1 64", "1 64 64 9",
       "t:2:9: \"9\" behind the request, expected the end of the line: "
       "BUBBLES LOAD_ADDR [STORE_ADDR]"},
  }));
  check_error(first + "\n" + line + "\n", 1, error);
}

TEST_CASE("a malformed first line is an error that names what is expected") {
  const std::string forms =
      "\"0xADDR READ|WRITE CYCLE\" (DRAMsim3), \"LD|ST 0xADDR\", \"0xADDR R|W\" or "
      "\"BUBBLES LOAD_ADDR [STORE_ADDR]\" (Ramulator)";
  check_error("", 0, "t: no requests, expected lines of " + forms);
  check_error("# nothing\n\n", 0, "t: no requests, expected lines of " + forms);
  check_error("hello 3\n", 0, "t:1:1: \"hello\" begins no request, expected " + forms);
  check_error("\n 40 READ 3", 0, "t:2:2: address \"40\", expected hexadecimal digits behind 0x");
  check_error("-1 64", 0, "t:1:1: \"-1\", expected a count of instructions in decimal digits");
  check_error("R 0,0,1,2,3,4\n", 0,
              "t:1:3: \"0,0,1,2,3,4\" is a vector of channel, rank, bank, row and column, expected "
              "a linear address: " +
                  forms);
}

TEST_CASE("a file cut within its last line gives no request of it unless it is whole") {
  const std::string text = "0x40 READ 1\n0x80 WRITE 25";
  const std::size_t second = text.find('\n') + 1;
  for (std::size_t length = second + 1; length <= text.size(); ++length) {
    const Reading reading = read_through(text.substr(0, length));
    CAPTURE(length);
    // Up to "2" of 25 nothing tells it from a whole line; before, the cycle lacks.
    const bool whole = length >= text.size() - 1;
    CHECK(reading.error.empty() == whole);
    CHECK(reading.requests.size() == (whole ? 2 : 1));
  }
}

TEST_CASE("bytes that are no text and endless lines are refused") {
  const std::string zeros(100'000, '\0');
  CHECK_THAT(read_through(zeros).error, Catch::StartsWith("t:1: a line above 4 KiB"));
  CHECK_THAT(read_through("0x40 READ 1\n" + zeros).error,
             Catch::StartsWith("t:2: a line above 4 KiB"));
  CHECK_THAT(read_through(std::string("\0\1\2\n", 4)).error, Catch::StartsWith("t:1:1: "));
  const Reading inner = read_through(std::string("0x40 READ 1\n0x4\0 READ 2\n", 24));
  CHECK_THAT(inner.error, Catch::StartsWith("t:2:1: address"));
  CHECK(inner.requests.size() == 1);
}
