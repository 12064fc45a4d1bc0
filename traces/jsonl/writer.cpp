#include "traces/jsonl/writer.h"

#include "traces/jsonl/object_writer.h"
#include "traces/places.h"
#include "traces/validity.h"

#include <simdjson.h>

namespace umf::traces::jsonl {

namespace {

void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

void append_hex(fmt::memory_buffer& out, std::string_view bytes) {
  append(out, R"({"hex":")");
  for (const char byte : bytes)
    fmt::format_to(fmt::appender(out), "{:02x}", static_cast<unsigned char>(byte));
  append(out, "\"}");
}

void append_escaped(fmt::memory_buffer& out, char c) {
  switch (c) {
  case '"':
    return append(out, "\\\"");
  case '\\':
    return append(out, "\\\\");
  case '\n':
    return append(out, "\\n");
  case '\t':
    return append(out, "\\t");
  default:
    fmt::format_to(fmt::appender(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

bool needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

} // namespace

void append_text(fmt::memory_buffer& out, std::string_view text) {
  if (!simdjson::validate_utf8(text)) return append_hex(out, text);
  out.push_back('"');
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    append(out, text.substr(done, i - done));
    append_escaped(out, text[i]);
    done = i + 1;
  }
  append(out, text.substr(done));
  out.push_back('"');
}

Writer::Writer(const std::filesystem::path& path, const stream::Header& header) : file_(path) {
  const std::string fault = fault_of(header);
  if (!fault.empty()) throw UserError(place_of(file_.name()), "header: " + fault);
  ObjectWriter object(line_);
  object.open();
  object.required(kVersionKey, kVersion);
  fields(object, header);
  object.close();
  write_line();
}

void Writer::write(const stream::Record& record) {
  const std::string fault = fault_of(record);
  if (!fault.empty())
    throw UserError(place_of(file_.name()), fmt::format("record {}: {}", records_, fault));
  ObjectWriter object(line_);
  object.open();
  std::visit(
      [&object](const auto& one) {
        object.required("record", std::string(kRecordName<std::decay_t<decltype(one)>>));
        fields(object, one);
      },
      record);
  object.close();
  write_line();
  ++records_;
}

void Writer::write_line() {
  line_.push_back('\n');
  file_.write({line_.data(), line_.size()});
  line_.clear();
}

void Writer::finish() {
  file_.finish();
}

} // namespace umf::traces::jsonl
