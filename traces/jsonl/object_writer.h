#pragma once

#include "model/stream/records.h"
#include "traces/jsonl/fields.h"

#include <bit>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace umf::traces::jsonl {

/// A JSON string; or {"hex":"…"} for bytes that are not UTF-8, which JSON cannot hold.
void append_text(fmt::memory_buffer&, std::string_view);

/// Visits the fields of one object and writes those that differ from their default.
class ObjectWriter {
public:
  explicit ObjectWriter(fmt::memory_buffer& out) : out_(out) {}

  /// `{`, any keys, then close().
  void open() {
    out_.push_back('{');
    first_ = true;
  }
  void close() { out_.push_back('}'); }

  template <class Field>
  void required(std::string_view key, const Field& field) {
    if (!first_) out_.push_back(',');
    first_ = false;
    out_.push_back('"');
    append(key);
    append("\":");
    value(field);
  }

  template <class Field>
  void operator()(std::string_view key, const Field& field,
                  const std::type_identity_t<Field>& usual = {}) {
    if (!equal(field, usual)) required(key, field);
  }

  template <class Field>
  void operator()(std::string_view key, const std::optional<Field>& field) {
    if (field) required(key, *field);
  }

  template <class Element>
  void operator()(std::string_view key, const std::vector<Element>& field) {
    if (!field.empty()) required(key, field);
  }

private:
  template <class Field>
  static bool equal(const Field& a, const Field& b) {
    if constexpr (std::is_same_v<Field, double>)
      return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); // -0 is not 0
    else if constexpr (std::is_same_v<Field, Hertz>)
      return equal(a.value, b.value);
    else
      return a == b;
  }

  void append(std::string_view text) { out_.append(text.data(), text.data() + text.size()); }

  template <class Number>
  requires std::is_arithmetic_v<Number>
  void value(Number number) {
    fmt::format_to(fmt::appender(out_), "{}", number); // doubles in their shortest exact form
  }
  void value(Bytes bytes) { value(bytes.count); }
  void value(Hertz hertz) { value(hertz.value); }
  void value(const std::string& text) { append_text(out_, text); }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void value(Enum code) { append_text(out_, stream::name_of(code)); }

  template <class Object>
  requires requires(ObjectWriter& writer, const Object& object) { fields(writer, object); }
  void value(const Object& object) {
    ObjectWriter inner(out_);
    inner.open();
    fields(inner, object);
    inner.close();
  }

  template <class List>
  requires requires(const List& list) {
    list.begin();
    requires !std::is_same_v<List, std::string>;
  }
  void value(const List& list) {
    out_.push_back('[');
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_.push_back(',');
      first = false;
      value(element);
    }
    out_.push_back(']');
  }

  fmt::memory_buffer& out_;
  bool first_ = true;
};

} // namespace umf::traces::jsonl
