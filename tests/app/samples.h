#pragma once

#include "tests/support/shared_data.h"

#include <fmt/format.h>

#include <string>

/// Small traces and the machines they run on.
namespace umf::test {

inline const std::string kStreamHeader =
    R"({"umfsim-stream":1,"format":"test","source":"by hand","devices":[{"id":0,"name":"GPU"}]})"
    "\n";

inline std::string tensor_line(unsigned id, std::uint64_t bytes) {
  return fmt::format(R"({{"record":"tensor","id":{0},"name":"t{0}","role":"activation",)"
                     R"("dtype":"f16","bytes":{1}}})"
                     "\n",
                     id, bytes);
}

/// Reads `bytes` of a tensor for 500 ns from 1000 × id; `more` adds or replaces nothing, it
/// follows as further keys, such as `,"device":1`.
inline std::string kernel_line(unsigned id, unsigned tensor, std::uint64_t bytes,
                               const std::string& more = "") {
  return fmt::format(R"({{"record":"kernel","id":{0},"name":"k{0}","start_ns":{1},"end_ns":{2},)"
                     R"("grid":[8,1,1],"block":[128,1,1],"rule":"recorded","accesses":)"
                     R"([{{"tensor":{3},"rule":"recorded","length_bytes":{4}}}]{5}}})"
                     "\n",
                     id, 1000ULL * id, 1000ULL * id + 500, tensor, bytes, more);
}

/// `kernels` reads of one 1 MiB tensor.
inline std::string plain_trace(unsigned kernels) {
  std::string text = kStreamHeader + tensor_line(0, 1 << 20);
  for (unsigned k = 0; k < kernels; ++k)
    text += kernel_line(k, 0, 1 << 20);
  return text;
}

/// A Kineto document around `events`.
inline std::string kineto(const std::string& events) {
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
}

inline std::string preset(const std::string& name) {
  return source_file("scenarios/hardware/" + name + ".json").string();
}

inline constexpr const char* kQwen =
    "data/traces/kineto/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz";

} // namespace umf::test
