#include "model/base/error.h"
#include "model/scheduler/log.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

using namespace umf;
using namespace umf::scheduler;

namespace {

/// A log of two GPUs, up to its records.
std::string header() {
  LogHeader header;
  header.page = 64_KiB;
  header.tiers = {{"hbm", policy::TierClass::hbm, 2}, {"cxl", policy::TierClass::pool, 8}};
  header.gpus = {{R"({"name":"lru"})", {{true, {}}, {true, {}}}},
                 {R"({"name":"lru"})", {{false, {}}, {true, {}}}}};
  std::string bytes;
  LogWriter(header, [&](std::string_view more) { bytes += more; }).finish();
  return bytes.substr(0, bytes.size() - 10); // kind, 0 records, checksum
}

} // namespace

/// The first byte chooses what the rest is: a whole log, or records behind a header that is right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string start = header();
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string log = (data[0] % 2 == 0 ? "" : start) + std::string(rest);
  std::size_t at = 0;
  try {
    LogReader reader(
        [&](char* to, std::size_t most) {
          const std::size_t length = std::min(most, log.size() - at);
          std::memcpy(to, log.data() + at, length);
          at += length;
          return length;
        },
        "fuzz");
    for (LogEvent event; reader.next(event);) {
    }
  } catch (const UserError&) {
  }
  return 0;
}
