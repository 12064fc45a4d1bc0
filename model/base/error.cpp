#include "model/base/error.h"

namespace umf {

std::string Place::text() const {
  std::string out = file;
  if (line > 0) {
    out += ':' + std::to_string(line);
    if (column > 0) out += ':' + std::to_string(column);
  } else if (byte) {
    out += '@' + std::to_string(*byte);
  }
  if (!pointer.empty()) out += (out.empty() ? "" : ": ") + pointer;
  return out;
}

namespace {
std::string join(const Place& place, const std::string& message) {
  const std::string where = place.text();
  return where.empty() ? message : where + ": " + message;
}
} // namespace

UserError::UserError(Place place, const std::string& message)
    : std::runtime_error(join(place, message)), place_(std::move(place)) {}

UserError::UserError(const std::string& message) : std::runtime_error(message) {}

} // namespace umf
