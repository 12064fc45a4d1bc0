#pragma once

#include "model/base/error.h"

#include <cstdint>
#include <string>
#include <utility>

namespace umf::traces {

inline Place place_of(std::string file) {
  Place place;
  place.file = std::move(file);
  return place;
}

inline Place place_at(std::string file, std::uint64_t byte) {
  Place place = place_of(std::move(file));
  place.byte = byte;
  return place;
}

} // namespace umf::traces
