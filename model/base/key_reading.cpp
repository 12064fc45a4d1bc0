#include "model/base/key_reading.h"

#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace umf {
namespace {

const std::vector<std::string>& annotations() {
  static const std::vector<std::string> names = {"value", "from", "source", "override"};
  return names;
}

void read_from(const JsonValue& value, KeyRecord& record, KeyContext& context) {
  record.from = value.is_text() ? provenance_named(value.text()) : std::nullopt;
  if (!record.from)
    context.fault(value.place(),
                  fmt::format("found {}, {}", value.found(), suggestion("", provenance_names())));
}

void read_source(const JsonValue& value, KeyRecord& record, KeyContext& context) {
  record.source = value.text();
  if (!value.is_text())
    context.fault(value.place(),
                  fmt::format("found {}, expected a text that names the source", value.found()));
}

void read_override(const JsonValue& value, KeyRecord& record, KeyContext& context) {
  record.overridden = value.boolean();
  if (value.kind() != JsonValue::Kind::boolean)
    context.fault(value.place(), fmt::format("found {}, expected true or false", value.found()));
}

bool is_wrapped(const JsonValue& given, bool object_valued) {
  if (!given.is_object()) return false;
  const JsonValue* value = given.find("value");
  return object_valued ? value != nullptr && value->is_object() : true;
}

} // namespace

bool is_annotated_leaf(const JsonValue& value) {
  if (!value.is_object() || value.find("value") == nullptr) return false;
  return std::all_of(value.members().begin(), value.members().end(), [](const auto& member) {
    const auto& names = annotations();
    return std::find(names.begin(), names.end(), member.name) != names.end();
  });
}

OpenedLeaf open_leaf(const JsonValue& given, bool object_valued, KeyContext& context) {
  OpenedLeaf leaf;
  leaf.record.pointer = given.place().pointer;
  leaf.record.given = true;
  leaf.value = &given;
  if (is_wrapped(given, object_valued)) {
    leaf.value = given.find("value");
    report_unknown_keys(given, annotations(), context);
    if (leaf.value == nullptr) {
      context.fault(given.place(), "found an object without \"value\", expected a plain value or "
                                   "{\"value\": ..., \"from\": ..., \"source\": ...}");
      return leaf;
    }
    if (const JsonValue* from = given.find("from")) read_from(*from, leaf.record, context);
    if (const JsonValue* source = given.find("source")) read_source(*source, leaf.record, context);
    if (const JsonValue* mark = given.find("override")) read_override(*mark, leaf.record, context);
  }
  leaf.place = leaf.value->place();
  leaf.place.pointer = leaf.record.pointer;
  return leaf;
}

void record_absent(const JsonValue& object, std::string_view name, KeyRecord defaults,
                   KeyContext& context) {
  Place place = object.place();
  place.pointer += '/' + pointer_token(name);
  defaults.pointer = place.pointer;
  context.record(std::move(defaults), std::move(place));
}

void report_missing(const JsonValue& object, std::string_view name, const KeyType& type,
                    KeyContext& context) {
  context.fault(object.place(),
                fmt::format("key {} is missing, expected {}", in_quotes(name), type.expected));
}

void report_unknown_keys(const JsonValue& object, std::span<const std::string> known,
                         KeyContext& context) {
  for (const auto& member : object.members()) {
    if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
    context.fault(member.place, fmt::format("unknown key {}, {}", in_quotes(member.name),
                                            suggestion(member.name, known)));
  }
}

JsonValue absent_object(const JsonValue& parent, std::string_view name) {
  Place place = parent.place();
  place.pointer += '/' + pointer_token(name);
  return JsonValue::empty_object(std::move(place));
}

bool require_object(const JsonValue& value, KeyContext& context) {
  if (value.is_object()) return true;
  context.fault(value.place(), fmt::format("found {}, expected an object", value.found()));
  return false;
}

} // namespace umf
