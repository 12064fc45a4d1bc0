#include "traces/kineto/oddities.h"

#include "traces/kineto/event.h"

#include <fmt/format.h>

namespace umf::traces::kineto {

namespace {

struct FaultName {
  Fault fault;
  const char* code;
  const char* sentence;
};

constexpr FaultName kFaults[] = {
    {repaired_utf8, "invalid-utf8", "bytes that are no UTF-8 were replaced by '?'"},
    {repaired_control, "raw-control-character", "raw control characters were replaced by blanks"},
    {bad_escape, "bad-escape", "an escape sequence JSON does not know was kept as written"},
    {bad_time, "missing-time", "an event has no usable \"ts\" and was left without a time"},
    {bad_duration, "bad-duration", "\"dur\" is no finite number; the event has no time"},
    {negative_duration, "negative-duration", "a negative \"dur\" was taken as 0"},
    {bad_number, "bad-number", "a number is no 64-bit integer and was left out"}};

} // namespace

void Oddities::note(const char* code, const char* sentence, std::uint64_t byte) {
  auto& oddity = by_code_[code];
  if (oddity.count++ > 0) return;
  oddity.code = code;
  oddity.sentence = sentence;
  oddity.first_place = fmt::format("{}@{}", file_, byte);
}

void Oddities::note_faults(std::uint32_t faults, std::uint64_t byte) {
  for (const auto& name : kFaults)
    if (faults & name.fault) note(name.code, name.sentence, byte);
}

std::vector<stream::Oddity> Oddities::list() const {
  std::vector<stream::Oddity> all;
  for (const auto& entry : by_code_)
    all.push_back(entry.second);
  return all;
}

} // namespace umf::traces::kineto
