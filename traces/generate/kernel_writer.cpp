#include "traces/generate/kernel_writer.h"

#include <algorithm>

namespace umf::traces::generate {

namespace {

using stream::Kernel;

constexpr std::uint64_t kTile = 128; ///< columns of a product's tile
constexpr std::uint64_t kDepth = 64; ///< inner numbers of a stage
constexpr std::uint64_t kStages = 4; ///< stages in flight
constexpr std::uint64_t kMostGrid = 1u << 30;

std::uint64_t parts(std::uint64_t all, std::uint64_t each) {
  return (all + each - 1) / each;
}

std::uint32_t extent(std::uint64_t blocks) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, kMostGrid));
}

} // namespace

Kernel& KernelWriter::start(std::string_view name, std::size_t accesses) {
  kernel_ = &std::get<Kernel>(records_.emplace_back(std::in_place_type<Kernel>));
  kernel_->id = numbers_.kernel++;
  kernel_->name = name;
  kernel_->stream = options_.stream;
  kernel_->launch = phase_ == stream::Phase::decode ? options_.launch : stream::Launch::eager;
  kernel_->phase = phase_;
  kernel_->layer = layer_;
  kernel_->rule = stream::Rule::generated;
  kernel_->accesses.reserve(accesses);
  return *kernel_;
}

void KernelWriter::access(bool write, stream::TensorId tensor, Bytes length, std::uint64_t offset) {
  if (length.count == 0) return;
  stream::Access& access = kernel_->accesses.emplace_back();
  access.tensor = tensor;
  access.write = write;
  access.rule = stream::Rule::generated;
  access.offset = offset;
  access.length = length;
}

void KernelWriter::read(stream::TensorId tensor, Bytes length, std::uint64_t offset) {
  access(false, tensor, length, offset);
}

void KernelWriter::write(stream::TensorId tensor, Bytes length, std::uint64_t offset) {
  access(true, tensor, length, offset);
}

void KernelWriter::read(const Weight& weight) {
  if (weight.exists()) read(weight.tensor, weight.bytes);
}

void KernelWriter::read(const Rows& rows, std::uint64_t count) {
  access(false, workspace_[rows.buffer], {rows.width * count}, rows.offset);
}

void KernelWriter::write(const Rows& rows, std::uint64_t count) {
  access(true, workspace_[rows.buffer], {rows.width * count}, rows.offset);
}

std::uint64_t KernelWriter::tile_rows(std::uint64_t rows) {
  return rows <= 16 ? 16 : rows <= 64 ? 64 : kTile;
}

/// Tiles of rows × 128; where they do not fill the device, the inner dimension is split.
void KernelWriter::shape_product(Kernel& kernel, std::uint64_t rows, std::uint64_t out,
                                 std::uint64_t in, std::uint64_t grouped_tiles) const {
  const std::uint64_t tile = tile_rows(rows);
  const std::uint64_t down = grouped_tiles != 0 ? grouped_tiles : parts(rows, tile);
  const std::uint64_t across = parts(out, kTile);
  const std::uint64_t splits = std::clamp<std::uint64_t>(
      options_.sms / (down * across), 1, std::max<std::uint64_t>(in / (kDepth * kStages), 1));
  kernel.grid = {extent(across), extent(down), extent(splits)};
  kernel.block = {tile == kTile ? 256u : 128u, 1, 1};
  kernel.shared_memory = {kStages * (tile + kTile) * kDepth * kActivation};
}

void KernelWriter::shape_rows(Kernel& kernel, std::uint64_t rows, std::uint64_t width) const {
  kernel.grid = {extent(rows), 1, 1};
  // Eight numbers a thread at a time, whole warps.
  const std::uint64_t threads = parts(width / kActivation, 8);
  kernel.block = {
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts(threads, 32) * 32, 32, 1024)), 1,
      1};
}

void KernelWriter::shape_pointwise(Kernel& kernel, std::uint64_t bytes) const {
  kernel.grid = {extent(parts(bytes, 256 * 16)), 1, 1}; // 16 bytes a thread
  kernel.block = {256, 1, 1};
}

void KernelWriter::product(std::string_view name, const Weight& weight, std::uint64_t rows,
                           const Rows& in, const Rows& out) {
  if (rows == 0) return;
  Kernel& kernel = start(name, 4);
  read(weight);
  read(in, rows);
  write(out, rows);
  kernel.flops = 2.0 * static_cast<double>(rows) * static_cast<double>(weight.out * weight.in);
  kernel.flops_dtype = weight.compute;
  shape_product(kernel, rows, weight.out, weight.in);
}

} // namespace umf::traces::generate
