#pragma once

#include "model/base/json.h"
#include "model/base/key_context.h"

#include <span>
#include <string>
#include <string_view>

namespace umf {

/// A key's value, stripped of `{value, from, source, override}`, and the record
/// that still lacks its printed value.
struct OpenedLeaf {
  const JsonValue* value = nullptr; ///< null after a fault
  KeyRecord record;
  Place place; ///< of the value, with the key's pointer
};

/// `object_valued`: the plain value is itself an object, so only one whose
/// "value" is an object counts as annotated.
OpenedLeaf open_leaf(const JsonValue& given, bool object_valued, KeyContext& context);

/// True for `{value, from, source, override}` with any of the last three left out.
bool is_annotated_leaf(const JsonValue& value);

/// Records the default of a key the user left out.
void record_absent(const JsonValue& object, std::string_view name, KeyRecord defaults,
                   KeyContext& context);
void report_missing(const JsonValue& object, std::string_view name, const KeyType& type,
                    KeyContext& context);

/// Reports every member whose name is not among `known`, with the nearest one.
void report_unknown_keys(const JsonValue& object, std::span<const std::string> known,
                         KeyContext& context);

/// An object without members, standing where member `name` would.
JsonValue absent_object(const JsonValue& parent, std::string_view name);

/// False, and a fault, when the value is no object.
bool require_object(const JsonValue& value, KeyContext& context);

} // namespace umf
