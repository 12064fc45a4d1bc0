#pragma once

#include "model/stream/records.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace umf::traces::kineto {

/// Counts what was odd, by code, with the first place of each.
class Oddities {
public:
  explicit Oddities(std::string file) : file_(std::move(file)) {}

  void note(const char* code, const char* sentence, std::uint64_t byte);
  /// Notes every fault in the bits of Event::faults.
  void note_faults(std::uint32_t faults, std::uint64_t byte);

  /// By code, in alphabetical order.
  std::vector<stream::Oddity> list() const;

private:
  std::string file_;
  std::map<std::string, stream::Oddity> by_code_;
};

} // namespace umf::traces::kineto
