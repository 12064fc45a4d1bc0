#include "hw/platform/foresight.h"

#include "hw/gpu/l2.h"
#include "hw/platform/peaks.h"
#include "hw/platform/trace_walk.h"
#include "model/base/error.h"
#include "model/memory/address_space.h"

#include <algorithm>
#include <set>
#include <utility>

namespace umf::hw {

namespace {

class Foresight : public WalkListener {
public:
  Foresight(const Scenario& scenario, std::uint32_t tenants)
      : page_(scenario.scheduler.page), lanes_(scenario.gpu.compute.ranges_at_once),
        tenants_(tenants) {
    for (std::uint32_t g = 0; g < scenario.general.gpus; ++g)
      gpus_.push_back(std::make_unique<Gpu>(scenario));
  }

  void born(const stream::Tensor& tensor, std::uint32_t g, bool initial) override {
    Gpu& gpu = *gpus_[g];
    const auto& entry = gpu.space.declare(tensor);
    if (!initial) gpu.fresh.insert(tensor.id);
    auto& known = gpu.future->tensor(tensor.id);
    known.pages = entry.pages;
    known.initial = initial;
    known.born = next_;
  }

  void dead(stream::TensorId tensor, std::uint32_t g) override {
    Gpu& gpu = *gpus_[g];
    gpu.l2.discard(whole(gpu.space.at(tensor)));
    gpu.dead.erase(whole(gpu.space.at(tensor)));
    gpu.space.release(tensor);
    gpu.fresh.erase(tensor);
    gpu.future->tensor(tensor).dead = next_;
  }

  void reclaimed(stream::TensorId tensor, std::uint32_t g, std::uint64_t offset,
                 std::uint64_t length) override {
    Gpu& gpu = *gpus_[g];
    const auto& entry = gpu.space.at(tensor);
    const std::uint64_t begin = entry.base + offset;
    gpu.dead.insert({begin, begin + length});
    gpu.l2.discard(gpu.dead.around(begin));
  }

  void step(const WalkStep& step) override {
    Gpu& gpu = *gpus_[step.gpu];
    const auto now = policy::Future::step_of(step.number, step.tenant, tenants_);
    next_ = now + 1;
    gpu.future->issue(now, step.queue);
    accesses_.clear();
    for (const auto& range : step.ranges) {
      const auto& entry = gpu.space.at(range.tensor);
      if (gpu.fresh.erase(range.tensor) > 0 && !range.write) { // what the L2 has is another's
        stale_.clear();
        gpu.l2.invalidate(whole(entry), stale_);
      }
      accesses_.push_back({entry.base + range.offset, {range.length}, range.write, range.cached});
    }
    gpu.l2.plan(accesses_, lanes_, segments_, write_backs_);
    for (const auto& list : segments_)
      for (const Segment& segment : list)
        if (segment.kind != Segment::Kind::hit && segment.kind != Segment::Kind::store)
          use(gpu, now, segment.range);
    for (const Segment& segment : write_backs_)
      use(gpu, now, segment.range);
  }

  std::vector<std::shared_ptr<const policy::Future>> futures(const Scenario& scenario) {
    std::vector<std::shared_ptr<const policy::Future>> all;
    for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
      gpus_[g]->future->speeds = speeds_of(scenario, g);
      all.push_back(std::move(gpus_[g]->future));
    }
    return all;
  }

private:
  struct Gpu {
    explicit Gpu(const Scenario& scenario) : space(scenario.scheduler.page), l2(scenario.gpu.l2) {}
    memory::AddressSpace space;
    L2 l2;
    memory::RangeSet dead;            ///< addresses of bytes that died before their tensors
    std::set<stream::TensorId> fresh; ///< not touched yet
    std::shared_ptr<policy::Future> future = std::make_shared<policy::Future>();
  };

  memory::Range whole(const memory::AddressSpace::Entry& entry) const {
    return {entry.base, entry.base + entry.pages * page_.count};
  }

  /// A stretch of addresses that goes to memory; it may span tensors, and what they left.
  void use(Gpu& gpu, policy::StepNumber now, memory::Range range) {
    for (std::uint64_t at = range.begin; at < range.end;) {
      const auto* entry = gpu.space.holder(at);
      if (entry == nullptr) { // page by page: holes are rare
        at = (at / page_.count + 1) * page_.count;
        continue;
      }
      const std::uint64_t end = std::min(range.end, whole(*entry).end);
      const std::uint64_t first = (at - entry->base) / page_.count;
      const std::uint64_t last = (end - 1 - entry->base) / page_.count;
      gpu.future->use(entry->tensor.id, now, first, last - first + 1, {end - at});
      at = end;
    }
  }

  Bytes page_;
  std::size_t lanes_; ///< of a kernel, as the GPU has them
  std::uint32_t tenants_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  policy::StepNumber next_ = 0;
  std::vector<OperationAccess> accesses_;
  std::vector<std::vector<Segment>> segments_;
  std::vector<Segment> write_backs_, stale_;
};

} // namespace

std::vector<std::shared_ptr<const policy::Future>>
foresee(const Scenario& scenario, const std::vector<TenantSetup>& tenants) {
  Foresight foresight(scenario, static_cast<std::uint32_t>(tenants.size()));
  walk_traces(tenants, scenario.replay, scenario.general.gpus, foresight);
  return foresight.futures(scenario);
}

} // namespace umf::hw
