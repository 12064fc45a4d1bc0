#pragma once

#include "traces/generate/weights.h"
#include "traces/generate/workspace.h"

#include <string_view>
#include <vector>

namespace umf::traces::generate {

/// Rows of a buffer: `width` bytes each, from byte `offset` on.
struct Rows {
  Buffer buffer{};
  std::uint64_t width = 0;
  std::uint64_t offset = 0;
};

/// Adds kernels with plausible launch shapes to a list of records.
class KernelWriter {
public:
  KernelWriter(const StepOptions& options, const Workspace& workspace, Numbers& numbers,
               std::vector<stream::Record>& records)
      : options_(options), workspace_(workspace), numbers_(numbers), records_(records) {}

  void set(stream::Phase phase, std::int32_t layer) {
    phase_ = phase;
    layer_ = layer;
  }

  /// A kernel without accesses; those below are added to it until the next starts.
  stream::Kernel& start(std::string_view name, std::size_t accesses);
  stream::Kernel& kernel() { return *kernel_; } ///< the last one started
  std::vector<stream::Access>& accesses() { return kernel_->accesses; }
  std::vector<stream::Record>& records() { return records_; } ///< ends the last kernel
  void read(stream::TensorId tensor, Bytes length, std::uint64_t offset = 0);
  void write(stream::TensorId tensor, Bytes length, std::uint64_t offset = 0);
  void read(const Weight& weight);
  void read(const Rows& rows, std::uint64_t count);
  void write(const Rows& rows, std::uint64_t count);

  /// rows × weight: reads `in`, writes `out`, as tiles of a matrix product.
  void product(std::string_view name, const Weight& weight, std::uint64_t rows, const Rows& in,
               const Rows& out);
  /// The same for its launch shape alone: a product of `rows` by `out` by `in`.
  void shape_product(stream::Kernel& kernel, std::uint64_t rows, std::uint64_t out,
                     std::uint64_t in, std::uint64_t grouped_tiles = 0) const;
  /// A block a row of `width` bytes, as norms have, or so many threads as there are numbers.
  void shape_rows(stream::Kernel& kernel, std::uint64_t rows, std::uint64_t width) const;
  void shape_pointwise(stream::Kernel& kernel, std::uint64_t bytes) const;

  /// Rows of a tile of a product with `rows` rows.
  static std::uint64_t tile_rows(std::uint64_t rows);

private:
  void access(bool write, stream::TensorId tensor, Bytes length, std::uint64_t offset);

  const StepOptions& options_;
  const Workspace& workspace_;
  Numbers& numbers_;
  std::vector<stream::Record>& records_;
  stream::Kernel* kernel_ = nullptr;
  stream::Phase phase_ = stream::Phase::other;
  std::int32_t layer_ = -1;
};

} // namespace umf::traces::generate
