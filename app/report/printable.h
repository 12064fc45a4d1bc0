#pragma once

#include <string>

namespace umf::app {

/// Texts of traces and file names end up on the terminal: their escape codes must not.
inline std::string printable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) c = '?';
  return text;
}

} // namespace umf::app
