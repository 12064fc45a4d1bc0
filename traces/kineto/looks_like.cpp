#include "traces/kineto/reader.h"

#include <algorithm>

namespace umf::traces::kineto {

namespace {

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \n\r\t"), text.size()));
}

} // namespace

bool looks_like_kineto(std::string_view first_bytes) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (first_bytes.substr(0, mark.size()) == mark) first_bytes.remove_prefix(mark.size());
  const auto text = without_blanks(first_bytes);
  if (text.empty()) return false;
  const auto rest = without_blanks(text.substr(1));
  const char second = rest.empty() ? '\0' : rest.front();
  if (text.front() == '[') return second == '{' || second == ']';
  return text.front() == '{' && second == '"';
}

} // namespace umf::traces::kineto
