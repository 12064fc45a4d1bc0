#include "tests/walk/other_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace umf::test {

namespace {

constexpr double kFactors[] = {2, 0.5, 16, 1.0 / 16, 1000, 0.001};

struct Scaled {
  double number = 0;
  std::string unit;
};

Scaled split(const std::string& text) {
  std::size_t used = 0;
  const double number = std::stod(text, &used);
  return {number, text.substr(used)};
}

std::vector<std::string> other_quantities(const KeyInfo& key, const std::string& now) {
  // What is none or zero has no double: an example of the type stands for it.
  const bool nothing = now == "none" || split(now).number == 0;
  std::string from = now;
  if (nothing) {
    from = key.type.example;
    from.erase(std::remove(from.begin(), from.end(), '"'), from.end());
  }
  const Scaled base = split(from);
  std::vector<std::string> values;
  if (nothing) values.push_back(from);
  for (const double factor : kFactors)
    values.push_back(fmt::format("{:.12g}{}", base.number * factor, base.unit));
  values.push_back(key.min_text);
  values.push_back(key.max_text);
  return values;
}

std::vector<std::string> other_numbers(const KeyInfo& key, const std::string& now, bool whole) {
  const double base = now == "none" ? 1.0 : std::stod(now);
  std::vector<std::string> values;
  const auto add = [&](double value) {
    values.push_back(whole ? fmt::format("{:.0f}", std::floor(value))
                           : fmt::format("{:.12g}", value));
  };
  if (now == "none") add(base);
  for (const double factor : kFactors)
    add(base * factor);
  add(base + 1);
  if (base >= 1) add(base - 1);
  if (!whole) add(1 - base);
  values.push_back(key.min_text);
  values.push_back(key.max_text);
  return values;
}

/// Shares by role: one role at a time.
std::vector<std::string> other_shares() {
  std::vector<std::string> values;
  for (const char* role : {"weight", "activation", "kv-value", "kv-key"})
    for (const char* share : {"0.5", "0", "1"})
      values.push_back(fmt::format(R"({{"{}":{}}})", role, share));
  return values;
}

/// Of an address map: fields in another order, a bank that follows the row. Of a link: a rate that
/// any link can fall to. Else an entry and two, small enough for indices and different enough for
/// weights.
std::vector<std::string> other_lists(const std::string& name) {
  if (name.ends_with("mapping"))
    return {R"(["row","rank","column","bank","group","unit"])",
            R"(["row","column","rank","bank","group","unit"])"};
  if (name.ends_with("hash")) return {R"(["bank^row>>0"])", R"(["group^row>>0"])"};
  if (name.ends_with("changes")) return {R"(["1us gen1 x1"])"};
  if (name.ends_with("roles")) return {R"(["kv-key"])", R"(["weight"])", "[]"};
  return {"[2]", "[1]", "[1,2]", "[0,1]"};
}

} // namespace

std::vector<std::string> other_values(const KeyInfo& key, const std::string& now) {
  std::vector<std::string> values;
  if (key.type.container == KeyType::Container::shares) {
    values = other_shares();
  } else if (key.type.container == KeyType::Container::list) {
    values = other_lists(key.name);
  } else if (key.type.container == KeyType::Container::one) {
    switch (key.type.leaf) {
    case KeyType::Leaf::whole:
      values = other_numbers(key, now, true);
      break;
    case KeyType::Leaf::number:
      values = other_numbers(key, now, false);
      break;
    case KeyType::Leaf::quantity:
      values = other_quantities(key, now);
      break;
    case KeyType::Leaf::boolean:
      values = {now == "true" ? "false" : "true"};
      break;
    case KeyType::Leaf::choice:
      values = key.type.choices;
      break;
    case KeyType::Leaf::text:
      values = {"another"};
      // DRAM standards by name.
      if (key.name == "standard") values = {"hbm3e", "hbm3", "hbm2e", "hbm2"};
      if (key.name == "media") values = {"ddr5-5600", "ddr5-4800", "ddr5-6400"};
      break;
    }
  }
  std::vector<std::string> others;
  for (const std::string& value : values)
    if (!value.empty() && value != now &&
        std::find(others.begin(), others.end(), value) == others.end())
      others.push_back(value);
  return others;
}

} // namespace umf::test
