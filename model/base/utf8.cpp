#include "model/base/utf8.h"

namespace umf {
namespace {

/// The ranges of the second byte that exclude overlong forms, surrogates and
/// codes past U+10FFFF (Unicode 15, table 3-7).
bool second_fits(unsigned lead, unsigned second) {
  const unsigned low = lead == 0xE0 ? 0xA0U : lead == 0xF0 ? 0x90U : 0x80U;
  const unsigned high = lead == 0xED ? 0x9FU : lead == 0xF4 ? 0x8FU : 0xBFU;
  return second >= low && second <= high;
}

std::size_t length_by_lead(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

char byte(unsigned value) {
  return static_cast<char>(static_cast<unsigned char>(value));
}

} // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = length_by_lead(at(0));
  if (length > text.size()) return 0;
  if (length > 1 && !second_fits(at(0), at(1))) return 0;
  for (std::size_t i = 2; i < length; ++i)
    if ((at(i) & 0xC0U) != 0x80U) return 0;
  return length;
}

void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += byte(code);
    return;
  }
  if (code < 0x800) {
    text += byte(0xC0U | (code >> 6));
  } else if (code < 0x10000) {
    text += byte(0xE0U | (code >> 12));
    text += byte(0x80U | ((code >> 6) & 0x3FU));
  } else {
    text += byte(0xF0U | (code >> 18));
    text += byte(0x80U | ((code >> 12) & 0x3FU));
    text += byte(0x80U | ((code >> 6) & 0x3FU));
  }
  text += byte(0x80U | (code & 0x3FU));
}

} // namespace umf
