#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace umf {

/// Bytes of the well-formed UTF-8 character the text starts with; 0 if it starts with none.
std::size_t utf8_length(std::string_view text);

/// `code` is a Unicode scalar value.
void append_utf8(std::string& text, unsigned code);

} // namespace umf
