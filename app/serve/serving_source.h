#pragma once

#include "app/serve/alike.h"
#include "app/serve/paged_kv.h"
#include "app/serve/utilisation.h"
#include "hw/platform/replay.h"
#include "model/serving/batcher.h"
#include "traces/generate/routers.h"
#include "traces/generate/step_builder.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace umf::app {

/// How much of what was served was simulated, and how much that stood for.
struct FoldCounters {
  std::uint64_t iterations = 0, iterations_stood_for = 0;
  std::uint64_t layers = 0, layers_stood_for = 0; ///< of those iterations
  std::uint64_t kernels = 0;
};

/// What the source knows of the machine that runs its kernels.
struct ServingMachine {
  /// Peaks: arithmetic by type of number, FLOP/s; bytes a second beside the die and behind links.
  std::function<double(stream::DType)> flops;
  double near = 1, far = 1;
  double hbm = 1;    ///< the part of `near` that is HBM
  double access = 0; ///< seconds that a range read costs a kernel beside its bytes
  /// Whether a byte of a tensor, by the stream's number, lies behind links now.
  std::function<bool(stream::TensorId, std::uint64_t offset)> is_far;
  bool moves = true; ///< pages that have their place already: no iteration is like another
};

/// Requests as a stream of kernels that is made while it is replayed: when the machine asks for the
/// next operation, the last one is done, and the batcher learns how long its iteration took.
///
/// Time as requests see it is its own: arrivals of the trace plus durations of iterations. With
/// folded layers an iteration simulates one layer of each kind, the next one another layer, each
/// for all of its kind; the machine's clock then runs that much slower than the requests', and
/// every layer's pages are touched as often in its time as they would be.
class ServingSource : public stream::Source {
public:
  struct Parts {
    serving::Config config;
    std::unique_ptr<stream::Source> requests;
    traces::generate::StepOptions options;
    std::uint64_t most_requests = 0; ///< 0: all
    std::function<bool()> stop;      ///< asked once an iteration; true ends the stream
    /// Of several: which one a request of that id is of, and their weights.
    std::function<std::uint32_t(std::uint64_t)> tenant_of = {};
    std::vector<double> weights = {};
  };
  explicit ServingSource(Parts parts);

  /// All tensors of the stream, in its order. Weights and activations are placed whole before time
  /// starts; the cache, which has no blocks before begin(), in the order of its stretches.
  std::vector<hw::InitialTensor> initial() const;
  std::vector<hw::InitialStretch> cache_order() const { return kv_.stretches(blocks_); }
  Bytes weight_bytes() const { return builder_.weights().bytes(); }
  Bytes workspace_bytes() const;
  Bytes block_bytes() const { return kv_.block_bytes(); }
  /// Once it is known how many blocks there is room for; before the first record.
  void begin(std::uint32_t blocks, std::uint64_t seed, ServingMachine machine);
  /// Once they are placed, before the first record.
  void find_places() { kv_.find_places(blocks_, machine_.is_far); }

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record& record) override;
  /// An operation that next() gave is done.
  void done(const hw::OperationRow& row);

  const serving::Batcher& batcher() const { return *batcher_; }
  const std::vector<serving::Outcome>& outcomes() const { return outcomes_; }
  const FoldCounters& fold() const { return fold_; }
  const AlikeIterations::Check& alike() const { return alike_.check(); }
  const std::vector<stream::Oddity>& oddities() const { return oddities_; }
  std::int64_t now_ns() const { return now_ns_; }
  std::int64_t first_arrival_ns() const { return first_arrival_ns_; }
  bool stopped() const { return stopped_; }
  /// Until the last request arrived.
  Utilisation::Figures utilisation() const { return utilisation_.figures(last_arrival_ns_); }

private:
  void read_request();
  bool start_iteration();
  void end_iteration(std::int64_t took_ns);
  void make_records();
  IterationWork work_of(const std::vector<stream::Record>& records) const;

  Parts parts_;
  traces::generate::Numbers numbers_;
  traces::generate::StepBuilder builder_;
  PagedKv kv_;
  traces::generate::UniformRouter router_;
  std::vector<std::vector<std::uint32_t>> kinds_; ///< layers that do equal work
  std::vector<std::uint32_t> weight_;             ///< layers that one simulated layer stands for

  std::unique_ptr<serving::Batcher> batcher_;
  std::uint32_t blocks_ = 0;
  ServingMachine machine_;
  AlikeIterations alike_;
  IterationWork work_;
  std::optional<stream::Request> coming_;
  std::uint64_t read_ = 0;
  std::vector<serving::Outcome> outcomes_;
  std::vector<stream::Oddity> oddities_;

  serving::Iteration iteration_;
  std::vector<traces::generate::Sequence> batch_;
  std::vector<std::uint32_t> layers_;
  std::vector<stream::Record> records_;
  std::size_t given_ = 0;
  bool running_ = false, stopped_ = false;

  std::int64_t now_ns_ = 0, first_arrival_ns_ = 0, last_arrival_ns_ = 0;
  Utilisation utilisation_;
  Femtoseconds last_end_{}, spent_{}; ///< of the machine; of this iteration, all layers
  FoldCounters fold_;
  stream::Header header_;
};

} // namespace umf::app
