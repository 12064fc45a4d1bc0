#include "traces/kineto/preamble.h"

#include "traces/kineto/decimal.h"

#include <simdjson.h>

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace umf::traces::kineto {

namespace {

namespace dom = simdjson::dom;

std::uint64_t number(const dom::element& device, const char* key) {
  std::uint64_t value = 0;
  return device[key].get(value) ? 0 : value;
}

std::uint32_t small_number(const dom::element& device, const char* key) {
  const auto value = number(device, key);
  return value > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(value);
}

/// Kineto fills computeMajor/Minor on AMD parts too (gfx942 reads as 9.4).
std::string architecture(const dom::element& device) {
  std::uint64_t major = 0;
  if (device["computeMajor"].get(major)) return {};
  return fmt::format("sm{}.{}", major, number(device, "computeMinor"));
}

stream::Device read_device(const dom::element& from) {
  stream::Device device;
  std::string_view name;
  if (!from["name"].get(name)) device.name = std::string(name);
  device.id = static_cast<std::int32_t>(small_number(from, "id"));
  device.memory = {number(from, "totalGlobalMem")};
  device.sms = small_number(from, "numSms");
  device.architecture = architecture(from);
  device.max_threads_per_sm = small_number(from, "maxThreadsPerMultiprocessor");
  device.registers_per_sm = small_number(from, "regsPerMultiprocessor");
  device.shared_memory_per_sm = {number(from, "sharedMemPerMultiprocessor")};
  return device;
}

bool read_devices(std::string_view text, std::vector<stream::Device>& devices) {
  dom::parser parser;
  dom::array list;
  if (parser.parse(text.data(), text.size(), true).get(list)) return false;
  std::vector<stream::Device> read;
  for (const dom::element device : list)
    read.push_back(read_device(device));
  devices = std::move(read);
  return true;
}

bool read_epoch(std::string_view text, std::int64_t& epoch) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  const auto value = whole_number(text);
  if (value) epoch = *value;
  return value.has_value();
}

} // namespace

bool read_preamble(std::string_view key, std::string_view text, stream::Header& header) {
  if (key == "deviceProperties") return read_devices(text, header.devices);
  if (key == "baseTimeNanoseconds") return read_epoch(text, header.epoch_unix_ns);
  return false;
}

} // namespace umf::traces::kineto
