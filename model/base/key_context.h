#pragma once

#include "model/base/error.h"
#include "model/base/key_info.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace umf {

/// Several faults of the user's input at once: what() has one line for each.
class UserErrors : public UserError {
public:
  explicit UserErrors(std::vector<UserError> faults);
  const std::vector<UserError>& faults() const { return faults_; }

private:
  std::vector<UserError> faults_;
};

/// Gathers what reading a scenario found: the value and origin of every key,
/// and every fault, so that the user sees them all in one go.
class KeyContext {
public:
  void fault(Place place, const std::string& message);
  void fault(UserError fault) { faults_.push_back(std::move(fault)); }
  bool faulty() const { return !faults_.empty(); }
  const std::vector<UserError>& faults() const { return faults_; }
  /// Throws UserErrors, sorted by place, if there was any fault.
  void throw_if_faulty() const;

  void record(KeyRecord record, Place place);
  /// One for each key read, in order of reading.
  std::span<const KeyRecord> records() const { return records_; }
  /// Null when no such key was read.
  const KeyRecord* find(std::string_view pointer) const;
  /// The user marked the key `override`.
  bool overridden(std::string_view pointer) const;
  /// Of the value; for a key left out, of the object it would stand in.
  /// For an unknown pointer a place with the pointer alone.
  Place place_of(std::string_view pointer) const;

private:
  std::vector<UserError> faults_;
  std::vector<KeyRecord> records_;
  std::vector<Place> places_; ///< beside records_
  std::map<std::string, std::size_t, std::less<>> index_;
};

} // namespace umf
