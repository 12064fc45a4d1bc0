#pragma once

#include "traces/generate/generator.h"

#include <map>
#include <string>
#include <vector>

namespace umf::test {

/// A whole generated stream, and sums over it.
struct Stream {
  std::vector<stream::Record> records;
  std::map<stream::TensorId, stream::Tensor> tensors;
  std::vector<const stream::Kernel*> kernels;

  explicit Stream(traces::generate::GenerateOptions options);
  /// Bytes moved of tensors with the role, one way.
  std::uint64_t bytes(stream::Role role, bool write) const;
  double flops() const;
  /// Of kernels with the name.
  double flops(const std::string& kernel) const;
  std::uint64_t count(const std::string& kernel) const;
};

/// Options of a shipped model; bf16 throughout unless told.
traces::generate::GenerateOptions options_of(const std::string& model, const std::string& phase,
                                             std::uint64_t context, std::uint64_t batch,
                                             std::uint64_t steps,
                                             const std::string& weights = "bf16");

/// 2 × numbers of the matrices that each token is multiplied with, output excluded.
double product_flops(const shapes::Model& model);

} // namespace umf::test
