#include "traces/umft/writer.h"

#include "traces/places.h"
#include "traces/umft/format.h"
#include "traces/validity.h"

namespace umf::traces::umft {

Writer::Writer(const std::filesystem::path& path, const stream::Header& header) : file_(path) {
  const std::string fault = fault_of(header);
  if (!fault.empty()) throw UserError(place_of(file_.name()), "header: " + fault);
  ByteWriter head;
  head.raw(kMagic);
  head.fixed(kVersion);
  head.fixed(std::uint16_t{0});
  file_.write(head.bytes());
  encode_header(contents_, header);
  if (contents_.bytes().size() > kFrameLimit)
    throw UserError(place_of(file_.name()),
                    fmt::format("header: {} bytes of text and devices, expected at most {}",
                                contents_.bytes().size(), kFrameLimit));
  file_.write(packer_.pack(kHeaderTag, contents_.bytes()));
}

void Writer::write(const stream::Record& record) {
  const std::string fault = fault_of(record);
  if (!fault.empty())
    throw UserError(place_of(file_.name()), fmt::format("record {}: {}", records_, fault));
  encoder_.add(record);
  ++records_;
  if (encoder_.size() >= kFrameTarget) flush();
}

void Writer::flush() {
  FrameEntry entry = encoder_.take(contents_);
  if (contents_.bytes().size() > kFrameLimit)
    throw UserError(place_of(file_.name()),
                    fmt::format("record {}: the frame it is in takes {} bytes, expected at most {}",
                                records_ - 1, contents_.bytes().size(), kFrameLimit));
  entry.offset = file_.position();
  file_.write(packer_.pack(kRecordsTag, contents_.bytes()));
  frames_.push_back(entry);
}

void Writer::finish() {
  if (!encoder_.empty()) flush();
  contents_.clear();
  encode_index(contents_, frames_);
  const std::uint64_t offset = file_.position();
  file_.write(packer_.pack(kIndexTag, contents_.bytes()));
  ByteWriter trailer;
  trailer.fixed(offset);
  trailer.raw(kEndMagic);
  file_.write(trailer.bytes());
  file_.finish();
}

} // namespace umf::traces::umft
