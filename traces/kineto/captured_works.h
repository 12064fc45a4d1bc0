#pragma once

#include "traces/kineto/work.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace umf::traces::kineto {

/// What the kernels of another trace do, by name, grid and block: a trace of a graph's
/// capture knows the operators and shapes that its replays no longer show. Kernels alike
/// are told apart by their order, which a replay repeats; where a replay records no grid
/// (AMD), all of one name are alike.
class CapturedWorks {
public:
  using Extent = std::array<std::uint32_t, 3>;

  struct Captured {
    std::string op; ///< of the capture, after "~": whether weights are shared is not known
    Work work;      ///< Rule::captured, or unknown there too
  };

  /// Adds the next kernel of the capture, in order of issue.
  void add(std::string_view name, const Extent& grid, const Extent& block, std::string_view op,
           const Work& work);
  /// The kernel of the capture this one of a replay repeats; null when there is none. After
  /// the last alike it starts again with the first. `grid` may be all 0: not recorded. Valid
  /// until the next add().
  const Captured* next(std::string_view name, const Extent& grid, const Extent& block);

private:
  struct Alike {
    std::vector<Captured> distinct;
    std::vector<std::uint32_t> order; ///< indices into distinct
    std::size_t at = 0;
  };

  void add_alike(std::string key, const Captured& captured);
  static std::string key_of(std::string_view name, const Extent& grid, const Extent& block);

  std::unordered_map<std::string, Alike> alike_;
};

} // namespace umf::traces::kineto
