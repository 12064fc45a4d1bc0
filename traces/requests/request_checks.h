#pragma once

#include "model/stream/records.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace umf::traces::requests {

/// Puts a request read from a file right, and counts what was odd about it.
class RequestChecks {
public:
  explicit RequestChecks(std::string file) : file_(std::move(file)) {}

  /// Numbers the request and repairs it. `block_tokens`: of a prefix block; 0: there are none.
  void pass(stream::Request& request, std::uint64_t line, std::uint32_t block_tokens = 0);

  /// One oddity after the other, by code; false when all were given.
  bool next(stream::Record& record);

private:
  void note(const char* code, const char* sentence, std::uint64_t line);

  std::string file_;
  std::uint64_t requests_ = 0;
  std::int64_t latest_ns_ = 0;
  std::map<std::string, stream::Oddity> odd_;
};

} // namespace umf::traces::requests
