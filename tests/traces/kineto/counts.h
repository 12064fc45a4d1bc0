#pragma once

#include "traces/kineto/reader.h"

#include <map>
#include <string>
#include <vector>

namespace umf::test {

/// The records of a source, by kind, in order.
struct Drained {
  std::vector<stream::Record> all;
  std::vector<stream::Tensor> tensors;
  std::vector<stream::Kernel> kernels;
  std::vector<stream::Copy> copies;
  std::vector<stream::Sync> syncs;
  std::vector<stream::Free> frees;
  std::vector<stream::Mark> marks;
  std::map<std::string, stream::Oddity> oddities;
};

Drained drain(stream::Source& source);

/// The columns of the table of expected counts, as the text that stands there.
std::map<std::string, std::string> counts_of(const traces::kineto::KinetoSource& source,
                                             const Drained& records);

} // namespace umf::test
