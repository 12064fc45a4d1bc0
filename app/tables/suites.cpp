#include "app/tables/suites.h"

namespace umf::app {

Suite break_even_suite();

std::span<const Suite> suites() {
  static const std::vector<Suite> all = {break_even_suite()};
  return all;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : suites())
    names.push_back(suite.name);
  return names;
}

const Suite* find_suite(const std::string& name) {
  for (const Suite& suite : suites())
    if (suite.name == name) return &suite;
  return nullptr;
}

} // namespace umf::app
