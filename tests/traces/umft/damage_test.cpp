#include "model/base/error.h"
#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/umft/format.h"
#include "traces/umft/frame.h"
#include "traces/umft/index.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using namespace umf::traces::umft;

namespace {

std::vector<Record> read_all(const std::string& bytes) {
  Reader reader(std::make_unique<std::istringstream>(bytes), "t.umft");
  std::vector<Record> records;
  for (Record record; reader.next(record);)
    records.push_back(record);
  return records;
}

std::string error_of(const std::string& bytes) {
  try {
    read_all(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string small_file() {
  const TemporaryFolder folder;
  Writer writer(folder / "a.umft", make_header("kineto", "GPU"));
  writer.write(make_tensor(1, "w", Role::weight, Bytes{24}));
  Kernel kernel = make_kernel(5, "gemm", 10, 15);
  kernel.accesses.push_back(make_access(1, Rule::gemm, Bytes{24}));
  writer.write(kernel);
  writer.write(Mark{20, "done"});
  writer.finish();
  return bytes_of(folder / "a.umft");
}

/// A whole file around the given contents of one frame of records.
std::string file_around(const std::string& contents, std::uint64_t records) {
  FramePacker packer;
  ByteWriter head;
  head.raw(kMagic);
  head.fixed(kVersion);
  head.fixed(std::uint16_t{0});
  std::string file = head.bytes();
  ByteWriter header;
  encode_header(header, {});
  file += packer.pack(kHeaderTag, header.bytes());
  FrameEntry entry;
  entry.offset = file.size();
  entry.records = records;
  file += packer.pack(kRecordsTag, contents);
  ByteWriter trailer;
  trailer.fixed(std::uint64_t{file.size()});
  trailer.raw(kEndMagic);
  ByteWriter index;
  encode_index(index, {entry});
  file += packer.pack(kIndexTag, index.bytes());
  return file + trailer.bytes();
}

/// The error for a frame of one record, of these bytes, and one string "s".
std::string error_of_record(const std::string& record) {
  return error_of(file_around(std::string("\0\1\1\1s", 5) + record, 1));
}

} // namespace

TEST_CASE("a file cut at any byte is refused") {
  const std::string whole = small_file();
  REQUIRE(read_all(whole).size() == 3);
  for (std::size_t length = 0; length < whole.size(); ++length)
    REQUIRE_THROWS_AS(read_all(whole.substr(0, length)), UserError);
}

TEST_CASE("a file cut at any byte is refused by seeking too") {
  const std::string whole = small_file();
  for (std::size_t length = 0; length < whole.size(); ++length)
    REQUIRE_THROWS_AS(
        Reader(std::make_unique<std::istringstream>(whole.substr(0, length)), "t").seek_record(1),
        UserError);
}

TEST_CASE("a flipped bit anywhere is refused") {
  const std::string whole = small_file();
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    INFO("bit " << bit);
    REQUIRE_THROWS_AS(read_all(damaged), UserError);
  }
}

TEST_CASE("a file of version 1 is read as before") {
  std::string old = small_file();
  REQUIRE(old[8] == 2);
  old[8] = 1; // no checksum covers the file's head
  REQUIRE(read_all(old).size() == read_all(small_file()).size());
}

TEST_CASE("a file without its index says how many records were readable") {
  const std::string whole = small_file();
  const std::string cut = whole.substr(0, whole.rfind("INDX"));
  REQUIRE(error_of(cut) == "t.umft@" + std::to_string(cut.size()) +
                               ": the file ends here without its index, 3 records were readable; "
                               "expected 12 more bytes and a trailer");
  Reader reader(std::make_unique<std::istringstream>(cut), "t.umft");
  REQUIRE_THROWS_WITH(reader.seek_kernel(5), Catch::Contains("3 records were readable"));
}

TEST_CASE("each fault of the outer layout has its own words and place") {
  const std::string whole = small_file();
  const auto with = [&](std::size_t at, char byte) {
    std::string changed = whole;
    changed[at] = byte;
    return error_of(changed);
  };
  REQUIRE(error_of("PK\3\4 something else") ==
          "t.umft@0: no umft magic, expected 89 55 4d 46 54 0d 0a 1a");
  REQUIRE(with(8, 3) == "t.umft@8: version 3 of the format, expected 2: a newer umfsim wrote it");
  REQUIRE(with(10, 1) == "t.umft@10: a reserved word in use, expected 0");
  REQUIRE(with(12, 'X') ==
          "t.umft@12: no frame starts here, expected \"HEAD\", \"RECS\" or \"INDX\"");
  REQUIRE_THAT(with(23, 127), Catch::StartsWith("t.umft@20: a frame of 21"));
  REQUIRE_THAT(with(19, 1), Catch::StartsWith("t.umft@16: 167772"));
  REQUIRE_THAT(with(30, 'X'), Catch::Contains("the frame was damaged after it was written"));
  REQUIRE_THAT(error_of(whole + "x"), Catch::Contains("bytes after the trailer"));
  REQUIRE_THAT(with(whole.size() - 1, 'x'), Catch::Contains("no trailer"));
}

TEST_CASE("each fault of a record has its own words and place") {
  const std::string mark("\x08\x02\x01", 3); // at 1 ns, string 1
  REQUIRE(read_all(file_around(std::string("\0\1\1\1s", 5) + mark, 1)).size() == 1);
  REQUIRE_THAT(error_of_record("\x63\x02\x01"),
               Catch::Contains("contents byte 5: byte 0x63, expected a record type from 1 to 10"));
  REQUIRE_THAT(error_of_record(std::string("\x0a\x01\x00\x00", 4)),
               Catch::Contains("a free of 0 bytes, expected 1 or more"));
  REQUIRE_THAT(error_of_record("\x08\x02\x02"), Catch::Contains("string 2 of 1"));
  REQUIRE_THAT(error_of_record("\x08\x02"), Catch::Contains("the contents end"));
  REQUIRE_THAT(error_of_record(mark + "x"), Catch::Contains("1 bytes left over"));
  REQUIRE_THAT(error_of_record("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01"),
               Catch::Contains("a varint above 64 bits"));
  REQUIRE_THAT(error_of_record("\x05\xff\xff\xff\xff\x10"), // 2^32 + …
               Catch::Contains("expected a tensor below 2^32"));
  REQUIRE_THAT(error_of_record("\x01\x01\x01\x08\x01\x01\x01\x01"),
               Catch::Contains("byte 0x08, expected a role from 0 to 7"));
  REQUIRE_THAT(error_of_record("\x02\x80\x08\x01\x01"), Catch::Contains("kernel flags 0x400"));
  REQUIRE_THAT(error_of_record(std::string("\x01\x01\x01\x00\x00\xff\x7f", 7)),
               Catch::Contains("a count of dimensions of 16383 where 0 bytes are left"));
}

TEST_CASE("records that are missing or out of order are refused") {
  const std::string mark("\x08\x02\x01", 3);
  REQUIRE_THAT(error_of(file_around(std::string("\4\1\1\1s", 5) + mark, 1)),
               Catch::Contains("a frame that starts with record 4, expected 0"));
  REQUIRE_THAT(error_of(file_around(std::string("\0\1\1\1s", 5) + mark, 2)),
               Catch::Contains("an index of 2 records in 1 frames, expected 1 in 1"));
}

TEST_CASE("a stored file that zstd cannot unpack is refused") {
  // The frame says that 4 stored bytes hold 8, and its checksum is right.
  FramePacker packer;
  std::string frame(packer.pack(kRecordsTag, "abcd"));
  frame[8] = 8;
  frame.resize(frame.size() - kChecksumBytes);
  FrameUnpacker unpacker;
  frame += std::string(kChecksumBytes, '\0');
  REQUIRE_THROWS_AS(unpacker.unpack(parse_frame_head(frame), frame), DecodeFault);
}
