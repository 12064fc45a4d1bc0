#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

#include <regex>
#include <zlib.h>

using namespace umf::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  // 15 + 16: the largest window, in a gzip member.
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Every verb that reads traces refuses it alike, and leaves nothing behind.
void check_unreadable(const Folder& folder, const std::string& trace, const std::string& said) {
  const auto before = folder.entries();
  const std::vector<std::vector<std::string>> uses = {
      {"inspect", trace},
      {"inspect", trace, "--format", "json"},
      {"convert", trace, "copy.umft"},
      {"convert", trace, "copy.jsonl"},
      {"replay", trace, "--scenario", preset("h100-sxm"), "--out", "out"}};
  for (const auto& use : uses) {
    const Ended ended = umfsim(use, folder.path());
    CAPTURE(use, ended.err);
    check_refused(ended);
    CHECK_THAT(ended.err, StartsWith(said));
    CHECK(folder.entries() == before);
  }
}

const std::string kEvent =
    R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":2,"args":{"device":0,"stream":7}})";

} // namespace

TEST_CASE("a file that is no whole trace is refused with its place", "[app]") {
  struct Row {
    std::string name, bytes, said;
  };
  const std::string whole = kineto(kEvent + "," + kEvent);
  const std::string packed = gzipped(plain_trace(2000));
  const auto [name, bytes, said] = GENERATE_REF(values<Row>({
      {"empty", "",
       "empty: an empty file, expected one of: umft, umfsim JSON lines, mooncake, azure, kineto, "
       "address"},
      {"empty.gz", gzipped(""), "empty.gz: an empty file, expected one of"},
      {"text", "to be or not to be", "text: an unknown trace format, expected one of"},
      {"other.json", R"({"answer":42})", "other.json@12: expected \"traceEvents\" in this object"},
      {"bytes", std::string("\0\1\2\3", 4), "bytes: an unknown trace format, expected one of"},
      // The cut is inside the second event: the document ends at its last byte.
      {"cut.json", whole.substr(0, whole.size() - 20), "cut.json@"},
      {"cut.gz", packed.substr(0, packed.size() / 2), "cut.gz@"},
      {"tail.gz", packed.substr(0, packed.size() - 4), "tail.gz@"},
      {"version.jsonl",
       R"({"umfsim-stream":99})"
       "\n",
       "version.jsonl:1: "},
      {"key.jsonl", plain_trace(2) + kernel_line(2, 0, 64, R"(,"colour":"red")"),
       "key.jsonl:5: /colour: an unknown key, expected one of id, name,"},
      {"cut.jsonl", plain_trace(2).substr(0, plain_trace(2).size() - 10), "cut.jsonl:4: "},
      {"nan.jsonl", plain_trace(2) + kernel_line(2, 0, 64, R"(,"flops":NaN)"),
       "nan.jsonl:5: /flops: "},
      {"negative.jsonl", plain_trace(2) + kernel_line(2, 0, 64, R"(,"flops":-1)"),
       "negative.jsonl:5: "},
  }));
  Folder folder;
  folder.write(name, bytes);

  check_unreadable(folder, name, said);
}

TEST_CASE("a missing file, a folder and a pipe are refused as traces", "[app]") {
  Folder folder;
  folder.write("sub/file", "");
  check_unreadable(folder, "missing", "missing: cannot be opened");
  check_unreadable(folder, "sub", "sub");

  check_unreadable(folder, "/dev/stdin", "/dev/stdin: is a pipe or a terminal");
}

TEST_CASE("a damaged .umft is refused with the byte", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(500));
  REQUIRE(umfsim({"convert", "t.jsonl", "t.umft"}, folder.path()).status == 0);
  const std::string whole = folder.read("t.umft");

  const auto [name, bytes] = GENERATE_REF(table<std::string, std::string>(
      {{"cut.umft", whole.substr(0, whole.size() - 1)},
       {"half.umft", whole.substr(0, whole.size() / 2)},
       {"flipped.umft", [&] {
          std::string flipped = whole;
          flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
          return flipped;
        }()}}));
  folder.write(name, bytes);
  check_unreadable(folder, name, name + "@");

  const std::string said = umfsim({"inspect", name}, folder.path()).err;
  std::smatch place;
  REQUIRE(std::regex_search(said, place, std::regex("@([0-9]+): ")));
  CHECK(std::stoull(place[1]) <= bytes.size());
}

TEST_CASE("a trace that reads well but cannot be replayed is named", "[app]") {
  struct Row {
    std::string lines, said;
  };
  const auto [lines, said] = GENERATE(values<Row>({
      {kernel_line(1, 0, 64, R"(,"device":3)"), "expected \"gpus\": 2 or more"},
      {kernel_line(1, 9, 64), "uses tensor 9, which no record declares"},
      {kernel_line(1, 0, 2 << 20), "expected a range inside it"},
      {R"({"record":"kernel","id":1,"name":"list","accesses":[{"tensor":0,"addresses":[4]}]})"
       "\n",
       "kernel 1 \"list\" lists raw addresses, which burst resolution cannot replay"},
  }));
  Folder folder;
  folder.write("t.jsonl", plain_trace(1) + lines);

  const Ended ended =
      umfsim({"replay", "t.jsonl", "--scenario", preset("h100-sxm")}, folder.path());

  CAPTURE(ended.err);
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith("t.jsonl"));
  CHECK_THAT(ended.err, Contains(said));
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("an address trace is refused where kernels are needed, with what replays it", "[app]") {
  Folder folder;
  folder.write("t", "0x40 READ 3\n");
  const std::string said = "t: an address trace, which has no kernels and is replayed with "
                           "--resolution line, expected a trace of kernels\n";
  const Ended converted = umfsim({"convert", "t", "t.umft"}, folder.path());
  check_refused(converted);
  CHECK(converted.err == said);
  const Ended replayed = umfsim({"replay", "t", "--scenario", preset("h100-sxm")}, folder.path());
  check_refused(replayed);
  CHECK(replayed.err == said);
  CHECK(folder.entries() == std::set<std::string>{"t"});
}

TEST_CASE("a malformed line of an address trace is refused at its line and column", "[app]") {
  Folder folder;
  folder.write("t", "0x40 READ 3\n0x40 REED 4\n");
  const Ended ended = umfsim({"inspect", "t"}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, StartsWith("t:2:6: operation \"REED\", expected READ, "));
}
