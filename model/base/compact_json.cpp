#include "model/base/compact_json.h"

#include "model/base/key_codec.h"

namespace umf {

std::string compact_json(const JsonValue& value) {
  if (value.is_text()) return text_json(value.text());
  if (!value.is_array() && !value.is_object()) return value.text();
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  for (const JsonValue& item : value.items())
    add(compact_json(item));
  for (const auto& member : value.members())
    add(text_json(member.name) + ":" + compact_json(member.value));
  return value.is_array() ? "[" + text + "]" : "{" + text + "}";
}

} // namespace umf
