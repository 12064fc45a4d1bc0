#include "model/base/key_context.h"

#include <algorithm>
#include <tuple>

namespace umf {
namespace {

std::string joined(const std::vector<UserError>& faults) {
  std::string lines;
  for (const UserError& fault : faults) {
    if (!lines.empty()) lines += '\n';
    lines += fault.what();
  }
  return lines;
}

bool stands_before(const UserError& a, const UserError& b) {
  const Place& x = a.place();
  const Place& y = b.place();
  return std::tie(x.file, x.line, x.column) < std::tie(y.file, y.line, y.column);
}

} // namespace

UserErrors::UserErrors(std::vector<UserError> faults)
    : UserError(joined(faults)), faults_(std::move(faults)) {}

void KeyContext::fault(Place place, const std::string& message) {
  faults_.emplace_back(std::move(place), message);
}

void KeyContext::throw_if_faulty() const {
  if (faults_.empty()) return;
  std::vector<UserError> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), stands_before);
  throw UserErrors(std::move(sorted));
}

void KeyContext::record(KeyRecord record, Place place) {
  index_[record.pointer] = records_.size();
  records_.push_back(std::move(record));
  places_.push_back(std::move(place));
}

const KeyRecord* KeyContext::find(std::string_view pointer) const {
  const auto at = index_.find(pointer);
  return at == index_.end() ? nullptr : &records_[at->second];
}

bool KeyContext::overridden(std::string_view pointer) const {
  const KeyRecord* record = find(pointer);
  return record != nullptr && record->overridden;
}

Place KeyContext::place_of(std::string_view pointer) const {
  const auto at = index_.find(pointer);
  if (at != index_.end()) return places_[at->second];
  Place place;
  place.pointer = pointer;
  return place;
}

} // namespace umf
