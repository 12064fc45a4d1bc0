#pragma once

#include "model/stream/records.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace umf::test {

/// A kernel stream that a test writes down itself.
class MemorySource : public stream::Source {
public:
  explicit MemorySource(std::vector<stream::Record> records) : records_(std::move(records)) {}

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record& record) override {
    if (at_ == records_.size()) return false;
    record = records_[at_++];
    return true;
  }

private:
  stream::Header header_;
  std::vector<stream::Record> records_;
  std::size_t at_ = 0;
};

} // namespace umf::test
