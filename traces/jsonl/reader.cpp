#include "traces/jsonl/reader.h"

#include "traces/jsonl/object_reader.h"
#include "traces/places.h"
#include "traces/validity.h"

#include <fmt/format.h>
#include <utility>

namespace umf::traces::jsonl {

namespace json = simdjson::ondemand;

static_assert(Lines::kPadding >= simdjson::SIMDJSON_PADDING);

struct Reader::Parser {
  json::parser parser;
  json::document document;

  Object parse(std::string_view line, const Path& path) {
    const simdjson::padded_string_view padded(line, line.size() + Lines::kPadding);
    check(parser.iterate(padded).get(document), path);
    return top(path);
  }

  /// From the start again.
  Object top(const Path& path) {
    document.rewind();
    Object object;
    check(document.get_object().get(object), path);
    return object;
  }

  void expect_end(const Path& path) {
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
      fail(path, "text after the object, expected the end of the line");
  }
};

namespace {

template <std::size_t number = 0>
bool emplace_named(stream::Record& record, std::string_view name) {
  if constexpr (number < std::variant_size_v<stream::Record>) {
    using Candidate = std::variant_alternative_t<number, stream::Record>;
    if (name != kRecordName<Candidate>) return emplace_named<number + 1>(record, name);
    record.emplace<Candidate>();
    return true;
  } else {
    return false;
  }
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

template <class Valued>
void refuse_fault(const Valued& value, const Path& path) {
  std::string fault = fault_of(value);
  if (!fault.empty()) fail(path, std::move(fault));
}

} // namespace

bool looks_like_jsonl(std::string_view first_bytes) {
  const auto start = first_bytes.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos || first_bytes[start] != '{') return false;
  return first_bytes.find("\"umfsim-stream\"", start) < first_bytes.find('\n', start);
}

Reader::Reader(const std::filesystem::path& path) : Reader(io::Input::open(path)) {}

Reader::Reader(io::Input input) : lines_(std::move(input)), parser_(std::make_unique<Parser>()) {
  std::string_view line;
  if (!next_line(line))
    throw UserError(place_of(lines_.name()), "an empty file, expected a header line");
  at_line([&] {
    const Path path;
    Object object = parser_->parse(line, path);
    Value version;
    if (object.find_field_unordered(kVersionKey).get(version) != simdjson::SUCCESS)
      fail(path, fmt::format("no \"{}\", expected the header first", kVersionKey));
    const Path step{.up = &path, .key = kVersionKey};
    const auto number = read_unsigned(version, UINT64_MAX, step);
    if (number != kVersion)
      fail(step, fmt::format("version {} of the format, expected {}", number, kVersion));
    read_object(parser_->top(path), header_, path, kVersionKey);
    parser_->expect_end(path);
    refuse_fault(header_, path);
  });
}

Reader::~Reader() = default;

/// The next line that is not blank.
bool Reader::next_line(std::string_view& line) {
  while (lines_.next(line))
    if (!is_blank(line)) return true;
  return false;
}

template <class Parse>
void Reader::at_line(Parse parse) {
  try {
    parse();
  } catch (LineFault& fault) {
    Place place = place_of(lines_.name());
    place.line = lines_.number();
    place.pointer = std::move(fault.pointer);
    throw UserError(place, fault.message);
  }
}

bool Reader::next(stream::Record& record) {
  std::string_view line;
  if (!next_line(line)) return false;
  at_line([&] {
    const Path path;
    Object object = parser_->parse(line, path);
    Value type;
    if (object.find_field_unordered("record").get(type) != simdjson::SUCCESS)
      fail(path, "no \"record\", expected one");
    const Path step{.up = &path, .key = "record"};
    const std::string name = read_text(type, step);
    if (!emplace_named(record, name))
      fail(step, fmt::format("\"{}\", expected one of tensor, kernel, copy, sync, alloc, free, "
                             "request, mark, oddity",
                             printable(name)));
    std::visit([&](auto& one) { read_object(parser_->top(path), one, path, "record"); }, record);
    parser_->expect_end(path);
    refuse_fault(record, path);
  });
  return true;
}

} // namespace umf::traces::jsonl
