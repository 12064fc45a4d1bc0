#include "hw/platform/trace_walk.h"

#include "hw/platform/partial_frees.h"

#include <algorithm>
#include <utility>

namespace umf::hw {

namespace {

using stream::TensorId;
using Number = std::uint64_t;

/// Thrown where the replay will find a fault.
struct Stop {};

class Walker {
public:
  Walker(const TenantSetup& setup, const ReplayConfig& config, std::uint32_t index,
         std::uint32_t tenants, std::uint32_t gpus, std::uint32_t& queues, WalkListener& listener)
      : setup_(setup), config_(config), index_(index), gpus_(gpus), all_queues_(queues),
        listener_(listener), numbers_(index, tenants) {}

  void place_initial() {
    for (const auto& [tensor, device, whole] : setup_.initial) {
      const auto id = numbers_.declare(tensor);
      if (!id) continue; // declared twice
      add(*id, tensor);
      const std::uint32_t gpu = gpu_of(device);
      live(*id, gpu, whole);
    }
  }

  /// One operation; false when there are no more.
  bool step() {
    while (true) {
      if (!source_ && pending_.empty()) {
        if (repeats_ == config_.repeat) return false;
        if (repeats_++ > 0)
          for (const TensorId id :
               numbers_.end_repetition(config_.clear_cache != ClearCache::never))
            die(id);
        queues_.clear();
        host_waits_.clear();
        source_ = setup_.open();
        read_ahead();
      }
      if (pending_.empty()) continue;
      Pending pending = std::move(pending_.front());
      pending_.pop_front();
      // As in a replay: its tensors have their addresses before more records are read.
      if (pending.step.operation.kind == Operation::Kind::kernel)
        for (const TensorId id : pending.users)
          live(id, pending.step.gpu, false);
      for (const auto& range : pending.step.ranges)
        live(range.tensor, pending.step.gpu, false);
      read_ahead();
      listener_.step(pending.step);
      for (const TensorId id : pending.users) {
        Life& life = tensors_.at(id);
        --life.users;
        life.frees.done(pending.step.number);
        reclaim(id, life);
        release_if_dead(id);
      }
      return true;
    }
  }

private:
  struct Life {
    stream::Tensor tensor;
    std::uint64_t users = 0;
    std::uint32_t gpu = 0;
    bool declared = false, dead = false;
    PartialFrees frees;
  };
  /// The latest of each queue that must be done: those before it are too.
  using Waits = std::map<std::uint32_t, Number>;
  struct Queue {
    std::uint32_t number = 0;
    std::optional<Number> last;
    Waits extra_waits;
  };
  struct Pending {
    WalkStep step;
    std::vector<TensorId> users;
  };

  void read_ahead() {
    while (source_ && pending_.size() < config_.read_ahead)
      if (!read_one()) source_.reset();
  }

  bool read_one() {
    stream::Record record;
    if (!source_->next(record)) return false;
    std::visit(
        [this](auto&& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, stream::Tensor>) {
            if (const auto id = numbers_.declare(value)) add(*id, std::move(value));
          } else if constexpr (std::is_same_v<T, stream::Free>) {
            take(value);
          } else if constexpr (std::is_same_v<T, stream::Kernel> ||
                               std::is_same_v<T, stream::Copy> || std::is_same_v<T, stream::Sync>) {
            take(value);
          }
        },
        std::move(record));
    return true;
  }

  void add(TensorId id, stream::Tensor tensor) {
    tensor.id = id;
    tensors_[id].tensor = std::move(tensor);
  }

  Life& live(TensorId id, std::uint32_t gpu, bool initial) {
    Life& life = tensors_.at(id);
    if (!life.declared) {
      life.declared = true;
      life.gpu = gpu;
      listener_.born(life.tensor, gpu, initial);
      reclaim(id, life);
    }
    if (life.gpu != gpu) throw Stop{};
    return life;
  }

  void take(const stream::Free& free) {
    if (!free.length) {
      if (const auto id = numbers_.free(free.tensor)) die(*id);
      return;
    }
    const auto id = numbers_.find(free.tensor);
    if (!id) return;
    Life& life = tensors_.at(*id);
    const std::uint64_t bytes = life.tensor.bytes.count;
    if (free.offset > bytes || free.length->count > bytes - free.offset) throw Stop{};
    if (!life.frees.add({free.offset, free.offset + free.length->count}, life.users, issued_))
      throw Stop{};
    numbers_.freed_in_part(free.tensor);
    reclaim(*id, life);
  }

  void reclaim(TensorId id, Life& life) {
    for (; life.declared && life.frees.due() != nullptr; life.frees.take_effect()) {
      const memory::Range bytes = *life.frees.due();
      listener_.reclaimed(id, life.gpu, bytes.begin, bytes.size());
    }
  }

  void die(TensorId id) {
    tensors_.at(id).dead = true;
    release_if_dead(id);
  }

  void release_if_dead(TensorId id) {
    const auto it = tensors_.find(id);
    if (it == tensors_.end() || !it->second.dead || it->second.users > 0) return;
    if (it->second.declared) listener_.dead(id, it->second.gpu);
    tensors_.erase(it);
  }

  std::uint32_t gpu_of(std::int32_t device) {
    const auto next = config_.gpu_of(index_) + static_cast<std::uint32_t>(gpus_of_.size());
    const auto gpu = gpus_of_.try_emplace(device, next).first->second;
    if (gpu >= gpus_) throw Stop{};
    return gpu;
  }

  TensorId number_of(TensorId in_trace) const {
    const auto number = numbers_.find(in_trace);
    if (!number) throw Stop{};
    return *number;
  }

  void use(Pending& pending, TensorId id) {
    auto& users = pending.users;
    if (std::find(users.begin(), users.end(), id) == users.end()) users.push_back(id);
  }

  void add_range(Pending& pending, TensorId id, std::uint64_t offset, std::uint64_t length,
                 bool write, bool cached) {
    if (length == 0) return;
    const Life& life = tensors_.at(id);
    const std::uint64_t bytes = life.tensor.bytes.count;
    if (offset > bytes || length > bytes - offset) throw Stop{};
    if (life.frees.meets({offset, offset + length})) throw Stop{};
    pending.step.ranges.push_back({id, offset, length, write, cached});
  }

  void take(const stream::Kernel& kernel) {
    Pending pending;
    Operation& operation = pending.step.operation;
    operation.kind = Operation::Kind::kernel;
    operation.launch = kernel.launch;
    operation.flops = kernel.flops;
    operation.flops_dtype = kernel.flops_dtype;
    for (const auto& access : kernel.accesses) {
      const TensorId id = number_of(access.tensor);
      use(pending, id);
      each_range(access, [&](std::uint64_t offset, std::uint64_t length) {
        add_range(pending, id, offset, length, access.write, true);
      });
    }
    issue(std::move(pending), kernel.stream);
  }

  void take(const stream::Copy& copy) {
    Pending pending;
    const bool memset = copy.kind == stream::CopyKind::memset;
    pending.step.operation.kind = memset ? Operation::Kind::memset : Operation::Kind::copy;
    const Bytes bytes = copy.bytes.value_or(Bytes{0});
    const CopySides sides = sides_of(copy.kind);
    const auto device_side = [&](const std::optional<TensorId>& named, bool there, bool write) {
      std::optional<TensorId> id;
      if (named) {
        id = number_of(*named);
        use(pending, *id);
      }
      if (!there || bytes.count == 0) return;
      if (!id) {
        auto [scratch, fresh] = numbers_.scratch(copy.stream, write ? 1 : 0, bytes);
        if (fresh) add(scratch, std::move(*fresh));
        id = scratch;
      }
      add_range(pending, *id, 0, bytes.count, write, memset);
    };
    device_side(copy.source, sides.from_device, false);
    device_side(copy.destination, sides.to_device, true);
    if (sides.from_host) pending.step.host_read = bytes;
    if (sides.to_host) pending.step.host_written = bytes;
    issue(std::move(pending), copy.stream);
  }

  void take(const stream::Sync& sync) {
    Waits waits;
    if (!sync.host_waits) queue_of(sync.waiting);
    for (const auto& [id, queue] : queues_) {
      const bool awaited = sync.awaited ? id == *sync.awaited : id.device == sync.waiting.device;
      if (awaited && queue.last) waits[queue.number] = *queue.last;
    }
    if (!sync.host_waits) {
      join(queue_of(sync.waiting).extra_waits, waits);
      return;
    }
    for (auto& [id, queue] : queues_)
      join(queue.extra_waits, waits);
    join(host_waits_, waits);
  }

  static void join(Waits& into, const Waits& waits) {
    for (const auto& [queue, number] : waits)
      into[queue] = std::max(into[queue], number);
  }

  Queue& queue_of(const stream::StreamId& id) {
    const auto [queue, fresh] = queues_.try_emplace(id);
    if (fresh) {
      queue->second.extra_waits = host_waits_;
      const auto [number, never] = queue_numbers_.try_emplace(id, all_queues_);
      if (never) ++all_queues_;
      queue->second.number = number->second;
    }
    return queue->second;
  }

  void issue(Pending&& pending, const stream::StreamId& stream) {
    WalkStep& step = pending.step;
    step.gpu = gpu_of(stream.device);
    step.tenant = index_;
    step.number = issued_++;
    Queue& queue = queue_of(stream);
    step.queue = queue.number;
    Waits waits = std::exchange(queue.extra_waits, {});
    if (queue.last) waits[queue.number] = *queue.last;
    for (const auto& [other, number] : waits)
      step.waits.push_back(number);
    queue.last = step.number;
    for (const TensorId id : pending.users)
      ++tensors_.at(id).users;
    pending_.push_back(std::move(pending));
  }

  const TenantSetup& setup_;
  const ReplayConfig& config_;
  std::uint32_t index_, gpus_;
  std::uint32_t& all_queues_;
  WalkListener& listener_;
  TensorNumbers numbers_;
  std::unique_ptr<stream::Source> source_;
  std::uint64_t repeats_ = 0, issued_ = 0;
  std::deque<Pending> pending_;
  std::unordered_map<TensorId, Life> tensors_;
  std::map<stream::StreamId, Queue> queues_; ///< of this repetition
  std::map<stream::StreamId, std::uint32_t> queue_numbers_;
  Waits host_waits_;
  std::map<std::int32_t, std::uint32_t> gpus_of_;
};

} // namespace

void walk_traces(const std::vector<TenantSetup>& tenants, const ReplayConfig& config,
                 std::uint32_t gpus, WalkListener& listener) {
  std::uint32_t queues = 0;
  std::deque<Walker> walkers;
  const auto count = static_cast<std::uint32_t>(tenants.size());
  try {
    for (std::uint32_t t = 0; t < count; ++t) {
      walkers.emplace_back(tenants[t], config, t, count, gpus, queues, listener);
      walkers.back().place_initial();
    }
    for (bool more = true; more;) {
      more = false;
      for (Walker& walker : walkers)
        more = walker.step() || more;
    }
  } catch (const Stop&) {
  }
}

} // namespace umf::hw
