#include "model/policy/registry.h"

#include <array>

namespace umf::policy {

// One declaration and one line in the table per policy; each lives in its own .cpp.
Kind hbm_only();
Kind fixed_shares();

std::span<const Kind> kinds() {
  static const std::array table = {
      hbm_only(),
      fixed_shares(),
  };
  return table;
}

} // namespace umf::policy
