#pragma once

#include <string>
#include <string_view>

namespace umf::traces::kineto {

/// Text with raw control bytes made blanks, and each byte that is no UTF-8 made '?'.
struct Repaired {
  std::string text;
  bool controls = false;
  bool bytes = false;
};

Repaired repair_bytes(std::string_view text);

/// A JSON string between its quotes, without escapes; a bad escape stays as written.
/// Returns false when there was one.
bool unescape(std::string_view written, std::string& text);

} // namespace umf::traces::kineto
