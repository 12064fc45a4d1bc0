#include "traces/umft/reader.h"

#include "traces/places.h"
#include "traces/umft/format.h"

#include <algorithm>
#include <fstream>

namespace umf::traces::umft {

namespace {

std::unique_ptr<std::istream> open(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path))
    throw UserError(place_of(path.string()), "is a folder, expected a trace");
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*file)
    throw UserError(place_of(path.string()), "cannot be opened, expected a readable file");
  return file;
}

} // namespace

bool looks_like_umft(std::string_view first_bytes) {
  return first_bytes.substr(0, kMagic.size()) == kMagic;
}

Reader::Reader(const std::filesystem::path& path) : Reader(open(path), path.string()) {}

Reader::Reader(std::unique_ptr<std::istream> input, std::string name)
    : in_(std::move(input)), name_(std::move(name)) {
  read_file_head();
  const FrameHead head = read_frame();
  if (head.tag != kHeaderTag)
    fail(frame_start_, fmt::format("a \"{}\" frame, expected \"{}\" first", head.tag, kHeaderTag));
  const std::string_view contents = unpack(head);
  try {
    header_ = decode_header(contents);
  } catch (const DecodeFault& fault) {
    fail(frame_start_, fmt::format("header, contents byte {}: {}", fault.offset(), fault.what()));
  }
}

void Reader::fail(std::uint64_t byte, const std::string& message) const {
  throw UserError(place_at(name_, byte), message);
}

void Reader::fail_short(std::uint64_t expected) {
  fail(position_, fmt::format("the file ends here without its index, {} records were readable; "
                              "expected {} more bytes and a trailer",
                              record_, expected));
}

/// Grows with what is there, so a length that lies costs no more than the file.
void Reader::read_exactly(std::size_t bytes) {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  const std::size_t target = stored_.size() + bytes;
  while (stored_.size() < target) {
    const std::size_t before = stored_.size();
    const std::size_t step = std::min(kStep, target - before);
    stored_.resize(before + step);
    in_->read(stored_.data() + before, static_cast<std::streamsize>(step));
    const auto got = static_cast<std::size_t>(in_->gcount());
    position_ += got;
    if (got < step) {
      stored_.resize(before + got);
      fail_short(target - stored_.size());
    }
  }
}

void Reader::read_file_head() {
  stored_.clear();
  read_exactly(kFileHeadBytes);
  if (!looks_like_umft(stored_)) fail(0, "no umft magic, expected 89 55 4d 46 54 0d 0a 1a");
  ByteReader rest(std::string_view(stored_).substr(kMagic.size()));
  const auto version = rest.fixed<std::uint16_t>("a version");
  if (version == 0 || version > kVersion)
    fail(kMagic.size(), fmt::format("version {} of the format, expected {}{}", version, kVersion,
                                    version == 0 ? "" : ": a newer umfsim wrote it"));
  if (rest.fixed<std::uint16_t>("a reserved word") != 0)
    fail(kMagic.size() + 2, "a reserved word in use, expected 0");
}

FrameHead Reader::read_frame() {
  frame_start_ = position_;
  stored_.clear();
  read_exactly(kFrameHeadBytes);
  FrameHead head;
  try {
    head = parse_frame_head(stored_);
  } catch (const DecodeFault& fault) {
    fail(frame_start_ + fault.offset(), fault.what());
  }
  read_exactly(head.stored + kChecksumBytes);
  return head;
}

std::string_view Reader::unpack(const FrameHead& head) {
  try {
    return unpacker_.unpack(head, stored_);
  } catch (const DecodeFault& fault) {
    fail(frame_start_ + fault.offset(), fault.what());
  }
}

bool Reader::next(stream::Record& record) {
  while (!ended_) {
    try {
      if (decoder_.next(record)) {
        ++record_;
        return true;
      }
    } catch (const DecodeFault& fault) {
      fail(frame_start_,
           fmt::format("record {}, contents byte {}: {}", record_, fault.offset(), fault.what()));
    }
    next_frame();
  }
  return false;
}

void Reader::next_frame() {
  const FrameHead head = read_frame();
  if (head.tag == kHeaderTag) fail(frame_start_, "a second header, expected records or the index");
  const std::string_view contents = unpack(head);
  try {
    if (head.tag == kIndexTag) return end_with(contents);
    decoder_.begin(contents);
  } catch (const DecodeFault& fault) {
    fail(frame_start_, fmt::format("contents byte {}: {}", fault.offset(), fault.what()));
  }
  if (decoder_.first_record() != record_)
    fail(frame_start_, fmt::format("a frame that starts with record {}, expected {}",
                                   decoder_.first_record(), record_));
  ++frames_read_;
}

void Reader::end_with(std::string_view contents) {
  const auto frames = decode_index(contents);
  const std::uint64_t records =
      frames.empty() ? 0 : frames.back().first_record + frames.back().records;
  if (frames.size() != frames_read_ || records != record_)
    fail(frame_start_, fmt::format("an index of {} records in {} frames, expected {} in {}",
                                   records, frames.size(), record_, frames_read_));
  index_start_ = frame_start_;
  const std::uint64_t trailer = position_;
  if (read_trailer() != index_start_)
    fail(trailer, fmt::format("an index elsewhere, expected it at {}", index_start_));
  if (in_->peek() != std::istream::traits_type::eof())
    fail(position_, "bytes after the trailer, expected the end of the file");
  ended_ = true;
}

/// The place of the index.
std::uint64_t Reader::read_trailer() {
  const std::uint64_t start = position_;
  stored_.clear();
  read_exactly(kTrailerBytes);
  ByteReader in(stored_);
  const auto offset = in.fixed<std::uint64_t>("the index's offset");
  if (std::string_view(stored_).substr(in.offset()) != kEndMagic)
    fail(start + in.offset(), "no trailer, expected \"UMFTEND\\n\"");
  return offset;
}

void Reader::go_to(std::uint64_t byte) {
  in_->clear();
  in_->seekg(static_cast<std::streamoff>(byte));
  if (!*in_) fail(byte, "the input cannot be moved there, expected a file and not a pipe");
  position_ = byte;
}

const std::vector<FrameEntry>& Reader::frames() {
  if (!index_) load_index();
  return *index_;
}

void Reader::load_index() {
  const std::uint64_t resume = record_; // the frame being decoded lies in the buffers used here
  const std::uint64_t trailer = find_trailer();
  go_to(index_start_);
  const FrameHead head = read_frame();
  if (head.tag != kIndexTag || position_ != trailer)
    fail(index_start_,
         fmt::format("a \"{}\" frame, expected the index before the trailer", head.tag));
  const std::string_view contents = unpack(head);
  try {
    index_ = decode_index(contents);
  } catch (const DecodeFault& fault) {
    fail(index_start_, fmt::format("contents byte {}: {}", fault.offset(), fault.what()));
  }
  seek_record(resume);
}

/// The trailer's place, with index_start_ from it.
std::uint64_t Reader::find_trailer() {
  in_->clear();
  in_->seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(in_->tellg());
  if (size < 0) fail(position_, "the input cannot be moved, expected a file and not a pipe");
  const auto end = static_cast<std::uint64_t>(size);
  if (end < kFileHeadBytes + kTrailerBytes) refuse_unfinished();
  const std::uint64_t trailer = end - kTrailerBytes;
  go_to(trailer);
  stored_.clear();
  read_exactly(kTrailerBytes);
  if (!std::string_view(stored_).ends_with(kEndMagic)) refuse_unfinished();
  index_start_ = ByteReader(stored_).fixed<std::uint64_t>("the index's offset");
  if (index_start_ < kFileHeadBytes || index_start_ > trailer)
    fail(trailer, fmt::format("an index at {}, expected it inside the file", index_start_));
  return trailer;
}

/// Reads from the front, for the error that says how much of the file is sound.
void Reader::refuse_unfinished() {
  go_to(kFileHeadBytes);
  read_frame();
  decoder_ = {};
  record_ = frames_read_ = 0;
  ended_ = false;
  for (stream::Record record; next(record);) {
  }
  fail(position_, "no trailer at the file's end, expected one");
}

void Reader::open_frame(const FrameEntry& entry) {
  go_to(entry.offset);
  frames_read_ = static_cast<std::uint64_t>(&entry - index_->data());
  record_ = entry.first_record;
  ended_ = false;
  next_frame();
  if (ended_ || decoder_.records_left() != entry.records)
    fail(entry.offset,
         fmt::format("not the {} records the index says, expected them here", entry.records));
}

void Reader::seek_record(std::uint64_t n) {
  const auto& index = frames();
  const std::uint64_t records =
      index.empty() ? 0 : index.back().first_record + index.back().records;
  if (n > records)
    throw UserError(place_of(name_),
                    fmt::format("record {} asked for, expected at most {}", n, records));
  if (n == records) {
    go_to(index_start_);
    decoder_ = {};
    frames_read_ = index.size();
    record_ = records;
    ended_ = false;
    return;
  }
  const auto after = std::upper_bound(
      index.begin(), index.end(), n,
      [](std::uint64_t wanted, const FrameEntry& entry) { return wanted < entry.first_record; });
  open_frame(*std::prev(after));
  for (stream::Record skipped; record_ < n;)
    next(skipped);
}

bool Reader::seek_kernel(stream::KernelId id) {
  const std::uint64_t resume = record_;
  for (const auto& entry : frames()) {
    if (!entry.kernels || id < entry.kernels->lowest || id > entry.kernels->highest) continue;
    open_frame(entry);
    stream::Record record;
    for (std::uint64_t n = entry.first_record; n < entry.first_record + entry.records; ++n) {
      next(record);
      const auto* kernel = std::get_if<stream::Kernel>(&record);
      if (kernel == nullptr || kernel->id != id) continue;
      seek_record(n);
      return true;
    }
  }
  seek_record(resume);
  return false;
}

} // namespace umf::traces::umft
