#include "app/tables/suites.h"

namespace umf::app {

Suite bandwidth_suite();
Suite break_even_suite();
Suite idle_latency_suite();
Suite kv_capacity_suite();
Suite links_suite();
Suite loaded_latency_suite();
Suite matrix_suite();
Suite resolution_suite();
Suite timings_suite();

std::span<const Suite> suites() {
  static const std::vector<Suite> all = {
      break_even_suite(), idle_latency_suite(), loaded_latency_suite(),
      bandwidth_suite(),  matrix_suite(),       links_suite(),
      timings_suite(),    resolution_suite(),   kv_capacity_suite()};
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
