#pragma once

#include "model/base/json.h"
#include "model/base/key_context.h"
#include "model/base/quantity.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace umf {

/// Specialise for an enum used as a key:
/// `static constexpr std::pair<std::string_view, E> list[] = {{"lru", E::lru}, …};`
template <class E>
struct EnumNames;

/// The scalar a range applies to: the key's type, or a list's element.
template <class T>
struct KeyElement {
  using type = T;
};
template <class T>
struct KeyElement<std::vector<T>> {
  using type = T;
};
template <>
struct KeyElement<std::map<std::string, double>> {
  using type = double;
};
template <class T>
using key_element_t = typename KeyElement<T>::type;

/// Range of a value, ends included.
template <class T>
struct KeyRange {
  std::optional<T> min, max;
};

KeyType whole_type();
KeyType number_type();
KeyType boolean_type();
KeyType text_type();
KeyType choice_type(std::vector<std::string> names);
KeyType quantity_type(const QuantityForm& form);
KeyType list_type(KeyType element);
KeyType shares_type();

/// These throw UserError at the value's place.
std::uint64_t whole_from(const JsonValue& value, std::uint64_t most);
double number_from(const JsonValue& value);
bool boolean_from(const JsonValue& value);
const std::string& text_from(const JsonValue& value, const KeyType& type);
std::size_t choice_from(const JsonValue& value, const KeyType& type);
UserError type_fault(const JsonValue& value, const KeyType& type);
UserError range_fault(const JsonValue& value, const std::string& printed, const std::string& min,
                      const std::string& max);

std::string print_number(double value);
std::string number_json(double value); ///< finite ones alone
std::string text_json(std::string_view text);

/// Reads, prints and describes one scalar type.
template <class T>
struct LeafCodec;

template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) struct LeafCodec<T> {
  static KeyType type() { return whole_type(); }
  static T from(const JsonValue& value) {
    return static_cast<T>(whole_from(value, std::numeric_limits<T>::max()));
  }
  static std::string print(T value) { return std::to_string(value); }
  static std::string json(T value) { return print(value); }
};

template <>
struct LeafCodec<double> {
  static KeyType type() { return number_type(); }
  static double from(const JsonValue& value) { return number_from(value); }
  static std::string print(double value) { return print_number(value); }
  static std::string json(double value) { return number_json(value); }
};

template <>
struct LeafCodec<bool> {
  static KeyType type() { return boolean_type(); }
  static bool from(const JsonValue& value) { return boolean_from(value); }
  static std::string print(bool value) { return value ? "true" : "false"; }
  static std::string json(bool value) { return print(value); }
};

template <>
struct LeafCodec<std::string> {
  static KeyType type() { return text_type(); }
  static std::string from(const JsonValue& value) { return text_from(value, text_type()); }
  static std::string print(const std::string& value) { return in_quotes(value); }
  static std::string json(const std::string& value) { return text_json(value); }
};

template <class E>
requires std::is_enum_v<E>
struct LeafCodec<E> {
  static KeyType type() {
    std::vector<std::string> names;
    for (const auto& [name, value] : EnumNames<E>::list)
      names.emplace_back(name);
    return choice_type(std::move(names));
  }
  static E from(const JsonValue& value) {
    return std::data(EnumNames<E>::list)[choice_from(value, type())].second;
  }
  static std::string print(E value) {
    for (const auto& [name, known] : EnumNames<E>::list)
      if (known == value) return std::string(name);
    throw InvariantError("an enum value has no name");
  }
  static std::string json(E value) { return text_json(print(value)); }
};

template <Quantity Q>
struct LeafCodec<Q> {
  static KeyType type() { return quantity_type(quantity_form<Q>()); }
  static Q from(const JsonValue& value) {
    const std::string& text = text_from(value, type());
    try {
      return parse_quantity<Q>(text);
    } catch (const UserError& fault) {
      throw UserError(value.place(), fault.what());
    }
  }
  static std::string print(Q value) { return umf::print(value); }
  static std::string json(Q value) { return text_json(print(value)); }
};

template <class T>
concept Ranged = std::totally_ordered<T> && !std::is_enum_v<T> && !std::same_as<T, bool> &&
                 !std::same_as<T, std::string>;

template <class T>
bool in_range(const T& value, const KeyRange<T>& range) {
  if constexpr (Ranged<T>)
    return !(range.min && value < *range.min) && !(range.max && *range.max < value);
  return true;
}

template <class T>
void check_range(const JsonValue& value, const T& read, const KeyRange<T>& range) {
  if (in_range(read, range)) return;
  const auto text = [](const std::optional<T>& end) {
    return end ? LeafCodec<T>::print(*end) : std::string();
  };
  throw range_fault(value, LeafCodec<T>::print(read), text(range.min), text(range.max));
}

/// Reads, prints and describes the whole value of a key. `read` reports faults
/// to the context and then returns nothing.
template <class T>
struct KeyCodec {
  static KeyType type() { return LeafCodec<T>::type(); }
  static std::optional<T> read(const JsonValue& value, const KeyRange<T>& range,
                               KeyContext& context) {
    try {
      T result = LeafCodec<T>::from(value);
      check_range(value, result, range);
      return result;
    } catch (const UserError& fault) {
      context.fault(fault);
      return std::nullopt;
    }
  }
  static bool fits(const T& value, const KeyRange<T>& range) { return in_range(value, range); }
  static std::string print(const T& value) { return LeafCodec<T>::print(value); }
  static std::string json(const T& value) { return LeafCodec<T>::json(value); }
};

template <class T>
struct KeyCodec<std::vector<T>> {
  static KeyType type() { return list_type(LeafCodec<T>::type()); }
  static std::optional<std::vector<T>> read(const JsonValue& value, const KeyRange<T>& range,
                                            KeyContext& context) {
    if (!value.is_array()) {
      context.fault(type_fault(value, type()));
      return std::nullopt;
    }
    std::vector<T> result;
    for (const JsonValue& item : value.items())
      if (std::optional<T> element = KeyCodec<T>::read(item, range, context))
        result.push_back(*std::move(element));
    if (result.size() != value.items().size()) return std::nullopt;
    return result;
  }
  static bool fits(const std::vector<T>& value, const KeyRange<T>& range) {
    return std::all_of(value.begin(), value.end(),
                       [&](const T& item) { return in_range(item, range); });
  }
  static std::string print(const std::vector<T>& value) {
    return listed(value, [](const T& item) { return LeafCodec<T>::print(item); });
  }
  static std::string json(const std::vector<T>& value) {
    return listed(value, [](const T& item) { return LeafCodec<T>::json(item); });
  }

private:
  template <class Text>
  static std::string listed(const std::vector<T>& value, Text text) {
    std::string result;
    for (const T& item : value)
      result += (result.empty() ? "" : ", ") + text(item);
    return '[' + result + ']';
  }
};

template <>
struct KeyCodec<std::map<std::string, double>> {
  using Shares = std::map<std::string, double>;
  static KeyType type() { return shares_type(); }
  static std::optional<Shares> read(const JsonValue& value, const KeyRange<double>& range,
                                    KeyContext& context);
  static bool fits(const Shares& value, const KeyRange<double>& range) {
    return std::all_of(value.begin(), value.end(),
                       [&](const auto& share) { return in_range(share.second, range); });
  }
  static std::string print(const Shares& value);
  static std::string json(const Shares& value) { return print(value); }
};

} // namespace umf
