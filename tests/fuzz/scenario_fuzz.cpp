#include "model/base/json.h"
#include "model/base/key_codec.h"
#include "model/base/scenario_overlay.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace umf;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Only UserError may escape, and its text is one line.
template <class Action>
bool succeeds(Action action) {
  try {
    action();
    return true;
  } catch (const UserError& error) {
    require(std::string_view(error.what()).find('\n') == std::string_view::npos);
    return false;
  }
}

/// Notes what only our parser refuses: a name given twice, and deep nesting.
class DuplicateFinder : public nlohmann::json::json_sax_t {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool end_object() override { return shallower(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) stricter_ = true;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }
  bool stricter() const { return stricter_; }

private:
  bool deeper() {
    names_.emplace_back();
    if (names_.size() > 100) stricter_ = true;
    return true;
  }
  bool shallower() {
    names_.pop_back();
    return true;
  }

  std::vector<std::set<std::string>> names_;
  bool stricter_ = false;
};

/// The other parser must agree on what JSON is.
void check_json(const std::string& text) {
  JsonValue root;
  const bool ours = succeeds([&] { root = parse_json(text, "fuzz.json"); });
  DuplicateFinder finder;
  const bool theirs = nlohmann::json::sax_parse(text, &finder);
  if (finder.stricter()) {
    require(!ours);
  } else {
    // Not the other way round: 1e999 is JSON (a key refuses it), but they cannot hold
    // it. A zero byte ends their input.
    require(ours || !theirs || text.find('\0') != std::string::npos);
  }
  if (ours) succeeds([&] { apply_overlay(root, text); });
}

template <class Q>
void check_quantity(const std::string& text) {
  succeeds([&] {
    const Q value = parse_quantity<Q>(text);
    require(parse_quantity<Q>(print(value)) == value);
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  check_json(text);
  check_quantity<Bytes>(text);
  check_quantity<Femtoseconds>(text);
  check_quantity<BytesPerSecond>(text);
  check_quantity<Hertz>(text);
  check_quantity<BytesPerClock>(text);
  check_quantity<FlopsPerSecond>(text);
  check_quantity<PicojoulesPerBit>(text);
  check_quantity<PicojoulesPerFlop>(text);
  check_quantity<Watts>(text);
  check_quantity<Celsius>(text);
  JsonValue empty = JsonValue::empty_object({});
  succeeds([&] { apply_overlay(empty, text); });
  return 0;
}
