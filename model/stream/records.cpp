#include "model/stream/records.h"

#include <cmath>
#include <utility>

namespace umf::stream {

namespace {

template <class Enum>
struct Names;

template <>
struct Names<Role> {
  static constexpr std::string_view list[] = {"unknown",    "weight", "kv-key", "kv-value",
                                              "activation", "expert", "lora",   "workspace"};
};
template <>
struct Names<DType> {
  static constexpr std::string_view list[] = {"unknown", "f64", "f32", "tf32", "f16", "bf16",
                                              "f8",      "i64", "i32", "i16",  "i8",  "u8",
                                              "bool",    "i4",  "i3",  "i2",   "c64", "c128"};
};
template <>
struct Names<Phase> {
  static constexpr std::string_view list[] = {"other", "prefill", "decode", "training"};
};
template <>
struct Names<Launch> {
  static constexpr std::string_view list[] = {"eager", "graph", "programmatic"};
};
template <>
struct Names<Pattern> {
  static constexpr std::string_view list[] = {"sequential", "strided", "gather"};
};
template <>
struct Names<CopyKind> {
  static constexpr std::string_view list[] = {
      "unknown",      "host-to-device", "device-to-host", "device-to-device",
      "peer-to-peer", "host-to-host",   "memset"};
};
template <>
struct Names<Rule> {
  static constexpr std::string_view list[] = {
      "recorded",  "gemm",       "elementwise", "matched", "generated",
      "unknown",   "attention",  "norm",        "softmax", "embedding",
      "reduction", "collective", "convolution", "pooling", "captured"};
};

template <class Enum>
std::string_view lookup(Enum value) {
  return Names<Enum>::list[static_cast<std::size_t>(value)];
}

} // namespace

std::string_view name_of(Role v) {
  return lookup(v);
}
std::string_view name_of(DType v) {
  return lookup(v);
}
std::string_view name_of(Phase v) {
  return lookup(v);
}
std::string_view name_of(Launch v) {
  return lookup(v);
}
std::string_view name_of(Pattern v) {
  return lookup(v);
}
std::string_view name_of(CopyKind v) {
  return lookup(v);
}
std::string_view name_of(Rule v) {
  return lookup(v);
}

template <class Enum>
std::optional<Enum> value_of(std::string_view name) {
  for (std::size_t i = 0; i < std::size(Names<Enum>::list); ++i)
    if (Names<Enum>::list[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

template std::optional<Role> value_of<Role>(std::string_view);
template std::optional<DType> value_of<DType>(std::string_view);
template std::optional<Phase> value_of<Phase>(std::string_view);
template std::optional<Launch> value_of<Launch>(std::string_view);
template std::optional<Pattern> value_of<Pattern>(std::string_view);
template std::optional<CopyKind> value_of<CopyKind>(std::string_view);
template std::optional<Rule> value_of<Rule>(std::string_view);

std::uint32_t bits_of(DType dtype) {
  switch (dtype) {
  case DType::unknown:
    return 0;
  case DType::c128:
    return 128;
  case DType::f64:
  case DType::i64:
  case DType::c64:
    return 64;
  case DType::f32:
  case DType::tf32:
  case DType::i32:
    return 32;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
    return 16;
  case DType::f8:
  case DType::i8:
  case DType::u8:
  case DType::boolean:
    return 8;
  case DType::i4:
    return 4;
  case DType::i3:
    return 3;
  case DType::i2:
    return 2;
  }
  return 0;
}

Bytes storage_of(DType dtype, std::uint64_t elements) {
  const std::uint64_t bits = bits_of(dtype);
  // Whole bytes first: elements × bits may pass 64 bits.
  return {elements / 8 * bits + (elements % 8 * bits + 7) / 8};
}

Bytes moved_bytes(const Access& access) {
  const std::uint64_t listed = access.indices.empty()
                                   ? access.length.count
                                   : access.indices.size() * access.block_bytes.count;
  if (access.fraction >= 1.0) return {listed};
  return {static_cast<std::uint64_t>(std::ceil(static_cast<double>(listed) * access.fraction))};
}

} // namespace umf::stream
