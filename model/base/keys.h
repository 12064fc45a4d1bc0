#pragma once

#include "model/base/key_codec.h"
#include "model/base/key_context.h"
#include "model/base/key_info.h"
#include "model/base/key_reading.h"
#include "model/base/nearest.h"
#include "model/base/sections.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Configuration keys: declared once beside the class they configure, they give
/// the reader, its errors, `umfsim describe` and the JSON Schema (README.md).
namespace umf {

/// What a key says besides its name and type. The default is the member
/// initialiser of the config struct.
template <class T>
struct KeyOptions {
  std::string help{};                           ///< one sentence
  std::optional<key_element_t<T>> min{}, max{}; ///< inclusive; of each element of a list
  Provenance from = Provenance::derived;        ///< of the default
  std::string source{};                         ///< of the default
  bool required = false;                        ///< absence is an error
};

template <class M>
struct KeyMember {
  using Value = M;
  static constexpr bool optional = false;
  static const M* value(const M& member) { return &member; }
};
template <class T>
struct KeyMember<std::optional<T>> {
  using Value = T;
  static constexpr bool optional = true;
  static const T* value(const std::optional<T>& member) { return member ? &*member : nullptr; }
};

/// The keys of one config struct C, which must be default constructible.
template <class C>
class Component {
public:
  Component(std::string name, std::string help) {
    info_.name = std::move(name);
    info_.help = std::move(help);
  }

  /// T: uint64_t, uint32_t, double, bool, std::string, a unit type, an enum with
  /// EnumNames, any other with a LeafCodec, a std::vector of those, or
  /// std::map<std::string, double>.
  template <class T>
  requires(!KeyMember<T>::optional) Component& key(std::string name, T C::*member,
                                                   KeyOptions<T> options) {
    return add_key(std::move(name), member, std::move(options));
  }

  /// Absent, or null, means nullopt unless the member initialiser says otherwise.
  template <class T>
  Component& key(std::string name, std::optional<T> C::*member, KeyOptions<T> options) {
    return add_key(std::move(name), member, std::move(options));
  }

  /// A nested object; `sub` is copied. Defaults are those of C's member.
  template <class S>
  Component& group(std::string name, S C::*member, const Component<S>& sub) {
    const auto shared = std::make_shared<const Component<S>>(sub);
    Entry entry;
    entry.read = [name, member, shared](C& config, const JsonValue& object, KeyContext& context) {
      const JsonValue* given = object.find(name);
      if (given != nullptr && !require_object(*given, context)) return;
      shared->read_into(config.*member, given != nullptr ? *given : absent_object(object, name),
                        context, {});
    };
    entry.describe = [name, member, shared](const C& defaults, const std::string& prefix,
                                            ComponentInfo& info) {
      info.groups.emplace_back(prefix + name, shared->info().help);
      shared->describe_into(defaults.*member, prefix + name + '.', info);
    };
    return add(std::move(name), std::move(entry));
  }

  /// Reads every key over its default. Faults (wrong values, unknown and
  /// missing keys) go to the context; the faulty keys keep their defaults.
  /// `discriminator` names a member that the registry reads, "" for none.
  C read(const JsonValue& object, KeyContext& context,
         std::string_view discriminator = "kind") const {
    C config{};
    read_into(config, object, context, discriminator);
    return config;
  }

  /// As read(), but leaves members it does not know to others.
  C read_known(const JsonValue& object, KeyContext& context) const {
    C config{};
    for (const Entry& entry : entries_)
      entry.read(config, object, context);
    return config;
  }

  /// As read(), with the present values of `config` as defaults.
  void read_into(C& config, const JsonValue& object, KeyContext& context,
                 std::string_view discriminator) const {
    if (!require_object(object, context)) return;
    std::vector<std::string> known = names_;
    if (!discriminator.empty()) known.emplace_back(discriminator);
    report_unknown_keys(object, known, context);
    for (const Entry& entry : entries_)
      entry.read(config, object, context);
  }

  const ComponentInfo& info() const { return info_; }
  const std::vector<std::string>& names() const { return names_; } ///< of its direct members

  /// Appends what is known of each key to `info`, with defaults taken from `defaults`.
  void describe_into(const C& defaults, const std::string& prefix, ComponentInfo& info) const {
    for (const Entry& entry : entries_)
      entry.describe(defaults, prefix, info);
  }

private:
  struct Entry {
    std::function<void(C&, const JsonValue& object, KeyContext&)> read;
    std::function<void(const C& defaults, const std::string& prefix, ComponentInfo&)> describe;
  };

  template <class M, class T>
  Component& add_key(std::string name, M C::*member, KeyOptions<T> options) {
    Entry entry;
    entry.read = [name, member, options](C& config, const JsonValue& object, KeyContext& context) {
      read_key(name, config.*member, options, object, context);
    };
    entry.describe = [name, member, options](const C& defaults, const std::string& prefix,
                                             ComponentInfo& info) {
      info.keys.push_back(describe_key(prefix + name, defaults.*member, options));
    };
    return add(std::move(name), std::move(entry));
  }

  Component& add(std::string name, Entry entry) {
    for (const std::string& known : names_)
      ensure(known != name, "a key is declared twice");
    entry.describe(C{}, {}, info_);
    names_.push_back(std::move(name));
    entries_.push_back(std::move(entry));
    return *this;
  }

  template <class M>
  static std::string print_member(const M& member) {
    const auto* value = KeyMember<M>::value(member);
    return value == nullptr ? "none" : KeyCodec<typename KeyMember<M>::Value>::print(*value);
  }

  template <class M, class T>
  static void read_key(const std::string& name, M& member, const KeyOptions<T>& options,
                       const JsonValue& object, KeyContext& context) {
    using Codec = KeyCodec<T>;
    const JsonValue* given = object.find(name);
    if (given == nullptr) {
      if (options.required) return report_missing(object, name, Codec::type(), context);
      KeyRecord record;
      record.value = print_member(member);
      record.from = options.from;
      record.source = options.source;
      return record_absent(object, name, std::move(record), context);
    }
    OpenedLeaf leaf =
        open_leaf(*given, Codec::type().container == KeyType::Container::shares, context);
    if (leaf.value == nullptr) return;
    if (KeyMember<M>::optional && leaf.value->is_null()) {
      member = M{};
    } else {
      std::optional<T> value = Codec::read(*leaf.value, {options.min, options.max}, context);
      if (!value) return;
      member = *std::move(value);
    }
    leaf.record.value = print_member(member);
    context.record(std::move(leaf.record), std::move(leaf.place));
  }

  template <class M, class T>
  static KeyInfo describe_key(std::string name, const M& member, const KeyOptions<T>& options) {
    using Element = LeafCodec<key_element_t<T>>;
    KeyInfo info;
    info.name = std::move(name);
    info.type = KeyCodec<T>::type();
    info.help = options.help;
    info.from = options.from;
    info.source = options.source;
    info.required = options.required;
    info.optional = KeyMember<M>::optional;
    if (!options.required) {
      const T* given = KeyMember<M>::value(member);
      ensure(given == nullptr || KeyCodec<T>::fits(*given, {options.min, options.max}),
             "a key's default is out of its range");
      info.default_text = print_member(member);
      if (given != nullptr) info.default_json = KeyCodec<T>::json(*given);
    }
    if (options.min) {
      info.min_text = Element::print(*options.min);
      info.min_json = Element::json(*options.min);
    }
    if (options.max) {
      info.max_text = Element::print(*options.max);
      info.max_json = Element::json(*options.max);
    }
    return info;
  }

  ComponentInfo info_;
  std::vector<std::string> names_;
  std::vector<Entry> entries_;
};

} // namespace umf
