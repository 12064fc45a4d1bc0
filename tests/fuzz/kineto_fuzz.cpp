#include "model/base/error.h"
#include "traces/kineto/reader.h"

#include <cstddef>
#include <cstdint>
#include <string>

/// Any bytes are either a trace or a UserError. Little memory makes the sorts spill.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace umf;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    auto input = traces::io::Input::from_memory("fuzz", std::move(bytes));
    const auto source = traces::kineto::read_kineto(std::move(input), {4_KiB});
    stream::Record record;
    while (source->next(record)) {
    }
  } catch (const UserError&) {
  }
  return 0;
}
