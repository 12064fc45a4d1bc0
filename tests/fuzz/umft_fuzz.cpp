#include "model/base/error.h"
#include "traces/umft/encoder.h"
#include "traces/umft/format.h"
#include "traces/umft/frame.h"
#include "traces/umft/index.h"
#include "traces/umft/reader.h"

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

using namespace umf;
using namespace umf::traces::umft;

namespace {

/// A whole file whose checksums are right, so that mutations reach what lies behind them:
/// one part is the input, the others are as a writer would write them.
std::string file_with(std::string_view tag, std::string_view contents) {
  FramePacker packer;
  ByteWriter file;
  file.raw(kMagic);
  file.fixed(kVersion);
  file.fixed(std::uint16_t{0});
  ByteWriter header;
  encode_header(header, {});
  file.raw(packer.pack(kHeaderTag, tag == kHeaderTag ? contents : header.bytes()));
  FrameEntry entry;
  entry.offset = file.bytes().size();
  entry.records = 1;
  FrameEncoder encoder;
  encoder.add(stream::Mark{});
  ByteWriter records;
  encoder.take(records);
  file.raw(packer.pack(kRecordsTag, tag == kRecordsTag ? contents : records.bytes()));
  const std::uint64_t index_at = file.bytes().size();
  ByteWriter index;
  encode_index(index, {entry});
  file.raw(packer.pack(kIndexTag, tag == kIndexTag ? contents : index.bytes()));
  file.fixed(index_at);
  file.raw(kEndMagic);
  return file.bytes();
}

std::string file_of(std::uint8_t choice, std::string_view input) {
  switch (choice % 4) {
  case 0:
    return std::string(input);
  case 1:
    return file_with(kRecordsTag, input);
  case 2:
    return file_with(kHeaderTag, input);
  default:
    return file_with(kIndexTag, input);
  }
}

void read_through(const std::string& file) {
  Reader reader(std::make_unique<std::istringstream>(file), "fuzz");
  for (stream::Record record; reader.next(record);) {
  }
}

void seek_about(const std::string& file) {
  Reader reader(std::make_unique<std::istringstream>(file), "fuzz");
  reader.seek_record(1);
  reader.seek_kernel(7);
  stream::Record record;
  reader.next(record);
}

template <class Act>
void allow_user_errors(Act act) {
  try {
    act();
  } catch (const UserError&) {
  }
}

} // namespace

/// The first byte chooses what the rest is: a file, or contents of one kind of frame.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string file = file_of(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
  allow_user_errors([&] { read_through(file); });
  allow_user_errors([&] { seek_about(file); });
  return 0;
}
