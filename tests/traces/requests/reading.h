#pragma once

#include "model/base/error.h"
#include "model/stream/records.h"

#include <map>
#include <string>
#include <vector>

namespace umf::test {

struct RequestFile {
  std::vector<stream::Request> requests;
  std::map<std::string, std::uint64_t> oddities; ///< counts by code
  std::string fault;                             ///< that ended the reading
};

template <class Open>
RequestFile read_requests(Open open) {
  RequestFile file;
  try {
    auto reader = open();
    stream::Record record;
    while (reader->next(record))
      if (const auto* request = std::get_if<stream::Request>(&record))
        file.requests.push_back(*request);
      else if (const auto* odd = std::get_if<stream::Oddity>(&record))
        file.oddities[odd->code] = odd->count;
  } catch (const UserError& error) {
    file.fault = error.what();
  }
  return file;
}

} // namespace umf::test
