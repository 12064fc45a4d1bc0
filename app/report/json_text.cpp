#include "app/report/json_text.h"

#include "app/report/figures.h"

namespace umf::app {

using Json = nlohmann::ordered_json;

namespace {

std::string scalar(const Json& value) {
  if (value.is_binary()) return {value.get_binary().begin(), value.get_binary().end()};
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& text, const Json& value, std::size_t indent) {
  if (!value.is_structured() || value.empty()) {
    text += scalar(value);
    return;
  }
  const std::string inner(indent + 2, ' ');
  text += value.is_object() ? "{\n" : "[\n";
  std::size_t left = value.size();
  for (const auto& item : value.items()) {
    text += inner;
    if (value.is_object()) text += scalar(item.key()) + ": ";
    append(text, item.value(), indent + 2);
    text += --left == 0 ? "\n" : ",\n";
  }
  text.append(indent, ' ');
  text += value.is_object() ? '}' : ']';
}

} // namespace

namespace {
/// No report holds binary values of another kind, so they can stand for raw digits.
Json raw(const std::string& digits) {
  return Json::binary({digits.begin(), digits.end()});
}
} // namespace

Json exact_ns(Femtoseconds time) {
  return raw(decimal_ns(time));
}

double ns_in(const Json& exact) {
  if (!exact.is_binary()) return exact.get<double>();
  return std::stod(std::string(exact.get_binary().begin(), exact.get_binary().end()));
}

Json exact_joules(Femtojoules energy) {
  return raw(decimal_joules(energy));
}

std::string json_text(const Json& value) {
  std::string text;
  append(text, value, 0);
  return text + '\n';
}

} // namespace umf::app
