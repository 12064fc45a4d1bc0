#include "hw/foreign/modules.h"

#include "model/base/error.h"

#include <map>
#include <utility>

namespace umf::hw {

namespace {
std::map<std::string, MakeForeign>& registered() {
  static std::map<std::string, MakeForeign> modules;
  return modules;
}
} // namespace

void register_foreign_module(const std::string& model, MakeForeign make) {
  ensure(registered().emplace(model, std::move(make)).second,
         "a foreign module of this name is registered already");
}

const MakeForeign* foreign_module(const std::string& model) {
  const auto found = registered().find(model);
  return found == registered().end() ? nullptr : &found->second;
}

std::vector<std::string> foreign_models() {
  std::vector<std::string> names;
  for (const auto& [name, make] : registered())
    names.push_back(name);
  return names;
}

} // namespace umf::hw
