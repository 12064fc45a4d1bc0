#include "model/policy/future.h"

#include <algorithm>

namespace umf::policy {

void Future::issue(StepNumber step, std::uint32_t queue) {
  if (step >= queues_.size()) queues_.resize(std::size_t{step} + 1);
  queues_[step] = queue;
  queue_count_ = std::max(queue_count_, queue + 1);
}

void Future::use(stream::TensorId id, StepNumber step, std::uint64_t first_page,
                 std::uint64_t pages, Bytes bytes) {
  constexpr std::uint64_t kMost = UINT32_MAX;
  const auto first = static_cast<std::uint32_t>(std::min(first_page, kMost));
  const auto count = static_cast<std::uint32_t>(std::min(pages, kMost - first));
  const auto sectors = static_cast<std::uint32_t>(std::min((bytes.count + 31) / 32, kMost));
  auto& uses = tensors_[id].uses;
  if (!uses.empty()) {
    Use& last = uses.back();
    if (last.step == step && last.first <= first && first <= last.past()) {
      last.pages = std::max(last.past(), first + count) - last.first;
      last.sectors += std::min(sectors, UINT32_MAX - last.sectors);
      return;
    }
  }
  uses.push_back({step, first, count, sectors});
}

const Future::Tensor* Future::find(stream::TensorId id) const {
  const auto tensor = tensors_.find(id);
  return tensor == tensors_.end() ? nullptr : &tensor->second;
}

void Progress::see(StepNumber step) {
  if (step >= future_.steps()) return;
  StepNumber& seen = seen_[future_.queue_of(step)];
  seen = std::max(seen, step + 1);
}

bool Progress::over(StepNumber step) const {
  return step + 1 < seen_[future_.queue_of(step)];
}

} // namespace umf::policy
