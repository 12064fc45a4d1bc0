#pragma once

#include "model/base/error.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace umf::traces::kineto {

/// Flat bytes for records that go through a temporary file of this process. A type takes
/// part by a function `visit(archive, value)` that hands its members to the archive.
class Packer {
public:
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }

  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

private:
  void put(const std::string& text) { put(std::string_view(text)); }
  template <class Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <class Value>
  void put(const std::vector<Value>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const auto& value : values)
      pack_one(value);
  }
  template <class Value>
  void pack_one(const Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>)
      put(value);
    else
      visit(*this, const_cast<Value&>(value));
  }

  std::string bytes_;
};

class Unpacker {
public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }

private:
  template <class Value>
  void get(Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    text = take(size);
  }
  template <class Value>
  void get(std::vector<Value>& values) {
    std::uint32_t size = 0;
    get(size);
    values.resize(size);
    for (auto& value : values)
      unpack_one(value);
  }
  template <class Value>
  void unpack_one(Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>)
      get(value);
    else
      visit(*this, value);
  }
  std::string_view take(std::size_t count) {
    ensure(count <= bytes_.size(), "a spilled record is shorter than what it holds");
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
};

template <class Value>
std::string_view pack(Packer& packer, Value& value) {
  packer.clear();
  visit(packer, value);
  return packer.bytes();
}

template <class Value>
Value unpack(std::string_view bytes) {
  Value value;
  Unpacker unpacker(bytes);
  visit(unpacker, value);
  return value;
}

} // namespace umf::traces::kineto
