#pragma once

#include "model/stream/records.h"

#include <string>
#include <utility>

/// Records with the few fields a test is about.
namespace umf::test {

inline stream::Header make_header(std::string format, std::string device = {}) {
  stream::Header header;
  header.format = std::move(format);
  if (!device.empty()) header.devices.emplace_back().name = std::move(device);
  return header;
}

inline stream::Tensor make_tensor(stream::TensorId id, std::string name, stream::Role role,
                                  Bytes bytes) {
  stream::Tensor tensor;
  tensor.id = id;
  tensor.name = std::move(name);
  tensor.role = role;
  tensor.bytes = bytes;
  return tensor;
}

inline stream::Access make_access(stream::TensorId tensor, stream::Rule rule, Bytes length,
                                  double fraction = 1.0) {
  stream::Access access;
  access.tensor = tensor;
  access.rule = rule;
  access.length = length;
  access.fraction = fraction;
  return access;
}

inline stream::Kernel make_kernel(stream::KernelId id, std::string name, std::int64_t start_ns,
                                  std::int64_t end_ns, std::int64_t queue = 0) {
  stream::Kernel kernel;
  kernel.id = id;
  kernel.name = std::move(name);
  kernel.start_ns = start_ns;
  kernel.end_ns = end_ns;
  kernel.stream.stream = queue;
  return kernel;
}

} // namespace umf::test
