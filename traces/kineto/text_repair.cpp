#include "traces/kineto/text_repair.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace umf::traces::kineto {

namespace {

/// Bytes of the UTF-8 sequence at the front of `text`; 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned low = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = first == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned low = first == 0xf0 ? 0x90 : 0x80;
    const unsigned high = first == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2, 0x80, 0xbf) && follows(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

std::optional<std::uint32_t> four_hex(std::string_view text) {
  std::uint32_t code = 0;
  const auto digits = text.substr(0, 4);
  const auto end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, code, 16);
  if (error != std::errc() || rest != end || digits.size() != 4) return std::nullopt;
  return code;
}

void append_utf8(std::uint32_t code, std::string& to) {
  const auto push = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      push(0xe0 | code >> 12);
    } else {
      push(0xf0 | code >> 18);
      push(0x80 | (code >> 12 & 0x3f));
    }
    push(0x80 | (code >> 6 & 0x3f));
  }
  push(0x80 | (code & 0x3f));
}

/// Characters used by the \u escape at the front of `text`; 0 when it is none.
std::size_t unescape_unicode(std::string_view text, std::string& to) {
  const auto code = four_hex(text.substr(std::min<std::size_t>(2, text.size())));
  if (!code) return 0;
  if (*code < 0xd800 || *code > 0xdfff) {
    append_utf8(*code, to);
    return 6;
  }
  if (*code > 0xdbff || text.substr(6, 2) != "\\u") return 0;
  const auto low = four_hex(text.substr(8));
  if (!low || *low < 0xdc00 || *low > 0xdfff) return 0;
  append_utf8(0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00), to);
  return 12;
}

std::size_t unescape_one(std::string_view text, std::string& to) {
  if (text.size() < 2) return 0;
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (text[1] == 'u') return text.size() < 6 ? 0 : unescape_unicode(text, to);
  const auto letter = kLetters.find(text[1]);
  if (letter == std::string_view::npos) return 0;
  to.push_back(kMeanings[letter]);
  return 2;
}

} // namespace

Repaired repair_bytes(std::string_view text) {
  Repaired repaired;
  repaired.text.reserve(text.size() + 64);
  while (!text.empty()) {
    const auto length = sequence_length(text);
    const auto c = static_cast<unsigned char>(text.front());
    if (length == 0) {
      repaired.text.push_back('?');
      repaired.bytes = true;
    } else if (c < 0x20) {
      repaired.text.push_back(' ');
      repaired.controls = true;
    } else {
      repaired.text += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return repaired;
}

bool unescape(std::string_view written, std::string& text) {
  text.clear();
  bool good = true;
  while (!written.empty()) {
    const auto plain = std::min(written.find('\\'), written.size());
    text += written.substr(0, plain);
    written.remove_prefix(plain);
    if (written.empty()) break;
    auto used = unescape_one(written, text);
    if (used == 0) {
      good = false;
      text.push_back('\\');
      used = 1;
    }
    written.remove_prefix(used);
  }
  return good;
}

} // namespace umf::traces::kineto
