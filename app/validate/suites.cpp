#include "app/validate/suites.h"

#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

namespace umf::app {

ValidationSuite copies_suite();
ValidationSuite cxl_expander_suite();
ValidationSuite decode_suite();
ValidationSuite dram_closed_forms_suite();
ValidationSuite gpt2_suite();
ValidationSuite gpu_chase_suite();
ValidationSuite gpu_stream_suite();
ValidationSuite loaded_suite();
ValidationSuite nvlink_suite();
ValidationSuite pcie_dma_suite();
ValidationSuite pools_suite();
ValidationSuite relu_suite();
ValidationSuite translation_suite();

std::span<const ValidationSuite> validation_suites() {
  static const std::vector<ValidationSuite> all = {dram_closed_forms_suite(),
                                                   gpu_chase_suite(),
                                                   gpu_stream_suite(),
                                                   loaded_suite(),
                                                   relu_suite(),
                                                   gpt2_suite(),
                                                   decode_suite(),
                                                   pcie_dma_suite(),
                                                   copies_suite(),
                                                   translation_suite(),
                                                   cxl_expander_suite(),
                                                   pools_suite(),
                                                   nvlink_suite()};
  return all;
}

std::vector<std::string> validation_suite_names() {
  std::vector<std::string> names;
  for (const ValidationSuite& suite : validation_suites())
    names.push_back(suite.name);
  return names;
}

std::string Study::file(const std::string& name) const {
  const auto found = published.data.find(name);
  if (found == published.data.end())
    throw UserError(Place{.file = published.file, .pointer = "/data"},
                    fmt::format("no file {}, expected one", in_quotes(name)));
  return data.path(found->second);
}

} // namespace umf::app
