#include "hw/platform/tensor_numbers.h"

#include "model/base/error.h"
#include "model/memory/address_space.h"

#include <fmt/format.h>

#include <bit>

namespace umf::hw {

namespace {
constexpr std::uint64_t kNumbers = std::uint64_t{1} << 32;
}

TensorNumbers::TensorNumbers(std::uint32_t tenant, std::uint32_t tenants)
    : next_(kNumbers / tenants * tenant + 1), past_(kNumbers / tenants * (tenant + 1)) {}

stream::TensorId TensorNumbers::take() {
  if (next_ == past_)
    throw UserError("more than 2^32 tensors in one run, expected fewer repetitions");
  return static_cast<TensorId>(next_++);
}

std::optional<stream::TensorId> TensorNumbers::declare(const stream::Tensor& tensor) {
  if (alive_.count(tensor.id) > 0) return std::nullopt;
  const TensorId id = take();
  const bool stays = memory::region_of(tensor.role) != memory::Region::activation;
  alive_.emplace(tensor.id, Life{id, stays});
  return id;
}

std::optional<stream::TensorId> TensorNumbers::find(TensorId in_trace) const {
  const auto life = alive_.find(in_trace);
  if (life == alive_.end()) return std::nullopt;
  return life->second.id;
}

std::optional<stream::TensorId> TensorNumbers::free(TensorId in_trace) {
  const auto id = find(in_trace);
  alive_.erase(in_trace);
  return id;
}

std::vector<stream::TensorId> TensorNumbers::end_repetition(bool clear_cache) {
  std::vector<TensorId> dead;
  for (auto life = alive_.begin(); life != alive_.end();) {
    if (life->second.stays) {
      ++life;
      continue;
    }
    dead.push_back(life->second.id);
    life = alive_.erase(life);
  }
  if (clear_cache) {
    for (const auto& [key, id] : scratch_)
      dead.push_back(id);
    scratch_.clear();
  }
  std::sort(dead.begin(), dead.end());
  return dead;
}

std::pair<stream::TensorId, std::optional<stream::Tensor>>
TensorNumbers::scratch(const stream::StreamId& stream, std::uint32_t side, Bytes bytes) {
  const auto size_class = static_cast<unsigned>(std::bit_width(bytes.count - 1));
  const auto [known, fresh] = scratch_.try_emplace({stream, side, size_class}, 0);
  if (!fresh) return {known->second, std::nullopt};
  known->second = take();
  stream::Tensor tensor;
  tensor.name = fmt::format("scratch of stream {} (2^{} B)", stream.stream, size_class);
  tensor.role = stream::Role::workspace;
  tensor.bytes = {std::uint64_t{1} << size_class};
  return {known->second, std::move(tensor)};
}

CopySides sides_of(stream::CopyKind kind) {
  using stream::CopyKind;
  CopySides sides;
  sides.from_host = kind == CopyKind::host_to_device || kind == CopyKind::host_to_host;
  sides.from_device = !sides.from_host && kind != CopyKind::memset;
  sides.to_host = kind == CopyKind::device_to_host || kind == CopyKind::host_to_host;
  sides.to_device = !sides.to_host;
  return sides;
}

} // namespace umf::hw
