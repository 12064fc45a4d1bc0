#pragma once

#include "model/stream/records.h"
#include "traces/jsonl/fields.h"

#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <optional>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace umf::traces::jsonl {

using Value = simdjson::ondemand::value;
using Object = simdjson::ondemand::object;

/// A step of the way into a document, kept on the stack and spelled out only for an error.
struct Path {
  const Path* up = nullptr;
  std::string_view key{};
  std::optional<std::size_t> index{};
  std::string pointer() const;
};

/// Something wrong with a line: a JSON pointer, and what was expected instead.
struct LineFault {
  std::string pointer;
  std::string message;
};

[[noreturn]] void fail(const Path&, std::string message);
/// Throws unless `error` is none.
void check(simdjson::error_code error, const Path&);

std::uint64_t read_unsigned(Value, std::uint64_t highest, const Path&);
std::int64_t read_signed(Value, std::int64_t lowest, std::int64_t highest, const Path&);
double read_real(Value, const Path&);
bool read_flag(Value, const Path&);
/// A string, or the bytes of {"hex":"…"}.
std::string read_text(Value, const Path&);
Object read_braces(Value, const Path&);
simdjson::ondemand::array read_brackets(Value, const Path&);

/// Consumes a string or number whose meaning is already known.
void skip_scalar(Value, const Path&);
/// On one line and without control characters, for errors.
std::string printable(std::string_view);

template <class T>
void read_object(Object, T&, const Path&, std::string_view handled = {});

/// Lists the keys of an object.
struct KeyList {
  std::string text;
  template <class Field, class... Usual>
  void operator()(std::string_view name, Field&, const Usual&...) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  template <class Field>
  void required(std::string_view name, Field& field) {
    (*this)(name, field);
  }
};

template <class T>
std::string keys_of() {
  KeyList list;
  T object;
  fields(list, object);
  return list.text;
}

template <class Number>
requires std::is_arithmetic_v<Number>
void read(Value value, Number& number, const Path& path) {
  using Limits = std::numeric_limits<Number>;
  if constexpr (std::is_same_v<Number, bool>)
    number = read_flag(value, path);
  else if constexpr (std::is_floating_point_v<Number>)
    number = read_real(value, path);
  else if constexpr (std::is_unsigned_v<Number>)
    number = static_cast<Number>(read_unsigned(value, Limits::max(), path));
  else
    number = static_cast<Number>(read_signed(value, Limits::min(), Limits::max(), path));
}

inline void read(Value value, Bytes& bytes, const Path& path) {
  read(value, bytes.count, path);
}
inline void read(Value value, Hertz& hertz, const Path& path) {
  read(value, hertz.value, path);
}
inline void read(Value value, std::string& text, const Path& path) {
  text = read_text(value, path);
}

/// The highest enumerator, for errors that list what is known.
template <class Enum>
inline constexpr Enum kLast{};
template <>
inline constexpr auto kLast<stream::Role> = stream::Role::workspace;
template <>
inline constexpr auto kLast<stream::DType> = stream::DType::c128;
template <>
inline constexpr auto kLast<stream::Phase> = stream::Phase::training;
template <>
inline constexpr auto kLast<stream::Launch> = stream::Launch::programmatic;
template <>
inline constexpr auto kLast<stream::Pattern> = stream::Pattern::gather;
template <>
inline constexpr auto kLast<stream::CopyKind> = stream::CopyKind::memset;
template <>
inline constexpr auto kLast<stream::Rule> = stream::kLastRule;

template <class Enum>
requires std::is_enum_v<Enum>
void read(Value value, Enum& code, const Path& path) {
  const std::string name = read_text(value, path);
  if (const auto found = stream::value_of<Enum>(name)) {
    code = *found;
    return;
  }
  std::string known;
  for (unsigned i = 0; i <= static_cast<unsigned>(kLast<Enum>); ++i)
    known += (i == 0 ? "" : ", ") + std::string(stream::name_of(static_cast<Enum>(i)));
  fail(path, '"' + printable(name) + "\", expected one of " + known);
}

template <class Field>
void read(Value value, std::optional<Field>& field, const Path& path) {
  read(value, field.emplace(), path);
}

template <class Element>
void read(Value value, std::vector<Element>& list, const Path& path) {
  list.clear();
  for (auto element : read_brackets(value, path)) {
    const Path step{.up = &path, .index = list.size()};
    check(element.error(), step);
    read(element.value_unsafe(), list.emplace_back(), step);
  }
}

template <class Element, std::size_t count>
void read(Value value, std::array<Element, count>& list, const Path& path) {
  std::size_t found = 0;
  for (auto element : read_brackets(value, path)) {
    const Path step{.up = &path, .index = found};
    check(element.error(), step);
    if (found == count) fail(step, "one more element, expected " + std::to_string(count));
    read(element.value_unsafe(), list[found++], step);
  }
  if (found != count)
    fail(path, std::to_string(found) + " elements, expected " + std::to_string(count));
}

template <class T>
requires requires(KeyList& visitor, T& object) {
  fields(visitor, object);
}
void read(Value value, T& object, const Path& path) {
  read_object(read_braces(value, path), object, path);
}

/// Fills the field called `key` from `value`.
struct FieldReader {
  std::string_view key;
  Value value;
  const Path& path;
  std::size_t visited = 0;
  std::optional<std::size_t> found{}; ///< the field's number

  template <class Field, class... Usual>
  void operator()(std::string_view name, Field& field, const Usual&...) {
    if (!found && name == key) {
      found = visited;
      read(value, field, path);
    }
    ++visited;
  }
  template <class Field>
  void required(std::string_view name, Field& field) {
    (*this)(name, field);
  }
};

using Seen = std::bitset<32>;

/// Refuses an object that lacks a field it must have.
struct RequiredCheck {
  const Seen& seen;
  const Path& path;
  std::size_t visited = 0;

  template <class Field, class... Usual>
  void operator()(std::string_view, Field&, const Usual&...) {
    ++visited;
  }
  template <class Field>
  void required(std::string_view name, Field&) {
    if (!seen[visited++]) fail(path, "no \"" + std::string(name) + "\", expected one");
  }
};

/// Fills `into` from an object; `handled` is a key its caller has read.
template <class T>
void read_object(Object object, T& into, const Path& path, std::string_view handled) {
  Seen seen;
  bool seen_handled = false;
  for (auto field : object) {
    check(field.error(), path);
    std::string_view key;
    check(field.unescaped_key().get(key), path);
    const Path step{.up = &path, .key = key};
    if (!handled.empty() && key == handled) {
      if (seen_handled) fail(step, "the same key twice, expected it once");
      seen_handled = true;
      skip_scalar(field.value(), step);
      continue;
    }
    FieldReader reader{.key = key, .value = field.value(), .path = step};
    fields(reader, into);
    if (!reader.found) fail(step, "an unknown key, expected one of " + keys_of<T>());
    if (seen[*reader.found]) fail(step, "the same key twice, expected it once");
    seen.set(*reader.found);
  }
  RequiredCheck check_all{.seen = seen, .path = path};
  fields(check_all, into);
}

} // namespace umf::traces::jsonl
