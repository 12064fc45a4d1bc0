#include "model/base/error.h"
#include "traces/jsonl/reader.h"

#include <cstdint>
#include <string>

using namespace umf;

namespace {

void read_through(const std::string& text) {
  try {
    traces::jsonl::Reader reader(traces::io::Input::from_memory("fuzz", text));
    for (stream::Record record; reader.next(record);) {
    }
  } catch (const UserError&) {
  }
}

} // namespace

/// The input as a whole file, and as the lines behind a good header.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  read_through(input);
  read_through("{\"umfsim-stream\":1}\n" + input);
  return 0;
}
