#pragma once

#include "model/base/error.h"
#include "tests/traces/kineto/counts.h"

#include <string>

namespace umf::test {

/// Statistics, header and records of a trace held in memory.
struct Read {
  traces::kineto::Statistics statistics;
  stream::Header header;
  Drained records;

  /// How often an oddity was seen.
  std::uint64_t oddity(const std::string& code) const {
    const auto found = records.oddities.find(code);
    return found == records.oddities.end() ? 0 : found->second.count;
  }
};

inline Read read(const std::string& bytes) {
  auto source = traces::kineto::read_kineto(traces::io::Input::from_memory("sample", bytes));
  Read read;
  read.statistics = source->statistics();
  read.header = source->header();
  read.records = drain(*source);
  return read;
}

/// The message of the UserError that reading raises; empty when it does not.
inline std::string refusal(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// One event with a name, a category, times in µs, and the inside of "args".
inline std::string event(const std::string& category, const std::string& name,
                         const std::string& start, const std::string& duration,
                         const std::string& args,
                         const std::string& thread = R"("pid":1,"tid":2)") {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + "\"," + thread +
         ",\"ts\":" + start + ",\"dur\":" + duration + ",\"args\":{" + args + "}}";
}

inline std::string kernel(const std::string& name, const std::string& start,
                          const std::string& duration, const std::string& args = "") {
  const std::string more = args.empty() ? "" : "," + args;
  return event("kernel", name, start, duration, R"("device":0,"stream":7)" + more,
               R"("pid":0,"tid":7)");
}

inline std::string document(const std::string& events, const std::string& after = "") {
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]" + after + "}";
}

} // namespace umf::test
