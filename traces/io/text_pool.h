#pragma once

#include "model/base/units.h"
#include "traces/io/spill.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace umf::traces::io {

/// Texts named by numbers, each kept once: traces repeat the same few names and shapes.
/// Texts are told apart by a 128-bit hash (XXH3). The first `memory` bytes of distinct
/// text stay in memory, the rest is spilled; some 60 bytes a distinct text always stay.
class TextPool {
public:
  using Id = std::uint32_t;

  explicit TextPool(Bytes memory) : memory_(memory) {}

  /// Numbers count from 0 in order of first appearance.
  Id intern(std::string_view text);
  /// The text; lies in `scratch` where it had to be read back.
  std::string_view view(Id id, std::string& scratch) const;

  std::size_t size() const { return places_.size(); }

private:
  using Hash = std::array<std::uint64_t, 2>;
  struct FirstWord {
    std::size_t operator()(const Hash& hash) const { return hash[0]; }
  };
  struct Place {
    const char* memory = nullptr; ///< null: spilled
    std::uint64_t offset = 0;     ///< in the file
    std::uint64_t length = 0;
  };

  char* room(std::size_t bytes);

  Bytes memory_;
  std::uint64_t in_memory_ = 0;
  std::unordered_map<Hash, Id, FirstWord> ids_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_left_ = 0;
  SpillFile file_;
};

} // namespace umf::traces::io
