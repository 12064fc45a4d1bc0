#pragma once

#include "model/base/error.h"
#include "traces/address/reader.h"

#include <string>
#include <vector>

namespace umf::test {

using traces::address::AddressRequest;
using traces::address::Reader;

inline bool same(const AddressRequest& a, const AddressRequest& b) {
  return a.address == b.address && a.cycle_or_gap == b.cycle_or_gap && a.write == b.write;
}

/// What a text gives up to its end or its fault.
struct Reading {
  std::vector<AddressRequest> requests;
  std::string error; ///< empty: none
};

inline Reading read_through(const std::string& text) {
  Reading reading;
  try {
    Reader reader(traces::io::Input::from_memory("t", text));
    for (AddressRequest request; reader.next(request);)
      reading.requests.push_back(request);
  } catch (const UserError& error) {
    reading.error = error.what();
  }
  return reading;
}

inline void check_requests(const std::string& text, const std::vector<AddressRequest>& expected) {
  const Reading reading = read_through(text);
  CHECK(reading.error.empty());
  REQUIRE(reading.requests.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i, reading.requests[i].address, reading.requests[i].cycle_or_gap);
    CHECK(same(reading.requests[i], expected[i]));
  }
}

} // namespace umf::test
