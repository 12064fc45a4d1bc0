#include "app/serve/serving_source.h"

#include "model/base/error.h"
#include "model/shapes/layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace umf::app {

namespace generate = traces::generate;

namespace {

/// What a step may hold at most.
generate::StepOptions sized(generate::StepOptions options, const serving::Config& config) {
  options.max_tokens = config.max_batched_tokens;
  options.max_sequences = std::min(config.max_sequences, config.max_batched_tokens);
  options.max_context = options.model.max_context; // the batcher sees to it
  options.gather_rows = false;
  return options;
}

} // namespace

ServingSource::ServingSource(Parts parts)
    : parts_(std::move(parts)), numbers_{1, 1},
      builder_(sized(parts_.options, parts_.config), numbers_),
      kv_(builder_.options(), parts_.config.block, numbers_),
      router_(parts_.options.model, parts_.options.seed),
      kinds_(shapes::equal_layers(parts_.options.model)), weight_(parts_.options.model.layers, 1),
      alike_(parts_.config.fold_alike, parts_.config.check_alike),
      utilisation_(parts_.config.utilisation_window.count / 1'000'000) {
  header_.format = "serving";
  header_.source = parts_.requests->header().source;
  header_.devices.push_back({});
  header_.devices.back().id = parts_.options.stream.device;
  if (!parts_.config.fold_layers) return;
  for (const auto& kind : kinds_)
    for (const std::uint32_t layer : kind)
      weight_[layer] = static_cast<std::uint32_t>(kind.size());
}

std::vector<hw::InitialTensor> ServingSource::initial() const {
  std::vector<stream::Record> records;
  builder_.declare(records);
  std::vector<hw::InitialTensor> tensors;
  for (stream::Record& record : records)
    tensors.push_back({std::get<stream::Tensor>(std::move(record)), parts_.options.stream.device});
  // Activations first: every step has them, and they find HBM empty.
  std::stable_partition(tensors.begin(), tensors.end(), [](const hw::InitialTensor& initial) {
    return initial.tensor.role == stream::Role::activation;
  });
  for (stream::Tensor& tensor : kv_.tensors(blocks_))
    tensors.push_back({std::move(tensor), parts_.options.stream.device, false});
  return tensors;
}

Bytes ServingSource::workspace_bytes() const {
  Bytes all{};
  for (const hw::InitialTensor& one : initial())
    if (one.whole) all += one.tensor.bytes;
  return all - weight_bytes();
}

void ServingSource::begin(std::uint32_t blocks, std::uint64_t seed, ServingMachine machine) {
  blocks_ = blocks;
  machine_ = std::move(machine);
  if (machine_.moves) alike_ = AlikeIterations(0, parts_.config.check_alike);
  const auto context = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(parts_.options.model.max_context, UINT32_MAX));
  batcher_ = std::make_unique<serving::Batcher>(
      parts_.config, blocks, context, seed,
      [this](const serving::Outcome& outcome) { outcomes_.push_back(outcome); });
  if (!parts_.weights.empty()) batcher_->set_weights(parts_.weights);
  read_request();
  if (coming_) now_ns_ = first_arrival_ns_ = coming_->arrival_ns;
}

void ServingSource::read_request() {
  coming_.reset();
  stream::Record record;
  while (!coming_ && parts_.requests->next(record)) {
    if (auto* oddity = std::get_if<stream::Oddity>(&record)) oddities_.push_back(*oddity);
    if (auto* request = std::get_if<stream::Request>(&record)) coming_ = std::move(*request);
  }
  if (coming_ && parts_.most_requests != 0 && ++read_ > parts_.most_requests) coming_.reset();
}

bool ServingSource::next(stream::Record& record) {
  while (given_ == records_.size()) {
    records_.clear();
    given_ = 0;
    if (running_) {
      alike_.learn(work_, spent_.seconds());
      ++fold_.iterations;
      fold_.layers += layers_.size();
      end_iteration((spent_.count + 500'000) / 1'000'000);
    }
    if (parts_.stop && parts_.stop()) stopped_ = true;
    if (stopped_ || !start_iteration()) return false;
    make_records();
    work_ = work_of(records_);
    if (const auto seconds = alike_.foresee(work_)) {
      records_.clear();
      end_iteration(std::llround(*seconds * 1e9));
    }
  }
  record = std::move(records_[given_++]);
  return true;
}

/// False when all is served.
bool ServingSource::start_iteration() {
  for (;;) {
    while (coming_ && coming_->arrival_ns <= now_ns_) {
      batcher_->arrive(*coming_, parts_.tenant_of ? parts_.tenant_of(coming_->id) : 0);
      last_arrival_ns_ = coming_->arrival_ns;
      read_request();
    }
    if (batcher_->plan(now_ns_, iteration_)) return running_ = true;
    ensure(batcher_->idle(), "requests wait and none can run");
    if (!coming_) return false;
    now_ns_ = coming_->arrival_ns;
  }
}

/// Of the layers in the records and of those they stand for.
IterationWork ServingSource::work_of(const std::vector<stream::Record>& records) const {
  IterationWork work;
  for (const stream::Record& record : records) {
    const auto* kernel = std::get_if<stream::Kernel>(&record);
    if (kernel == nullptr) continue;
    const double times = kernel->layer < 0 ? 1 : weight_[static_cast<std::size_t>(kernel->layer)];
    PagedKv::Reach cache;
    std::uint64_t other = 0;
    for (const stream::Access& access : kernel->accesses) {
      const PagedKv::Reach reach = kv_.reach(access);
      cache.all += reach.all;
      cache.far += reach.far;
      if (reach.all == 0) other += access.length.count;
    }
    const auto add = [&](IterationWork::Part part, double seconds) {
      work.seconds[part] += times * seconds;
    };
    if (kernel->flops > 0)
      add(cache.all > 0 ? IterationWork::attention : IterationWork::products,
          kernel->flops / machine_.flops(kernel->flops_dtype));
    add(IterationWork::weights, static_cast<double>(other) / machine_.near);
    add(IterationWork::near_cache, static_cast<double>(cache.all - cache.far) / machine_.near);
    add(IterationWork::far_cache, static_cast<double>(cache.far) / machine_.far);
    add(IterationWork::accesses, static_cast<double>(kernel->accesses.size()) * machine_.access);
  }
  return work;
}

void ServingSource::make_records() {
  batch_.clear();
  std::vector<std::span<const serving::BlockId>> blocks;
  blocks.reserve(iteration_.works.size());
  for (const serving::Work& work : iteration_.works) {
    batch_.push_back({work.past, work.tokens, work.emits, work.sequence});
    blocks.emplace_back(batcher_->blocks_of(work.sequence));
  }
  kv_.use(std::move(blocks));
  layers_.clear();
  for (const auto& kind : kinds_)
    if (parts_.config.fold_layers)
      layers_.push_back(kind[fold_.iterations % kind.size()]);
    else
      layers_.insert(layers_.end(), kind.begin(), kind.end());
  std::sort(layers_.begin(), layers_.end());
  builder_.step(batch_, kv_, router_, records_, layers_);
  spent_ = {};
}

void ServingSource::done(const hw::OperationRow& row) {
  const std::int64_t times = row.layer < 0 ? 1 : weight_[static_cast<std::size_t>(row.layer)];
  spent_ += (row.result.end - last_end_) * times;
  last_end_ = row.result.end;
  ++fold_.kernels;
}

void ServingSource::end_iteration(std::int64_t took_ns) {
  running_ = false;
  took_ns = std::max<std::int64_t>(took_ns, 1);
  std::int64_t times = batcher_->steady(iteration_);
  if (coming_ && times > 1) // an arrival is seen when the iteration under way is done
    times =
        std::clamp((coming_->arrival_ns - now_ns_ + took_ns - 1) / took_ns, std::int64_t{1}, times);
  batcher_->finish(iteration_, now_ns_ + took_ns, static_cast<std::uint32_t>(times), took_ns);
  using Part = IterationWork::Part;
  const auto stretch = static_cast<double>(times);
  const double near = work_.seconds[Part::weights] + work_.seconds[Part::near_cache];
  const double arithmetic = work_.seconds[Part::products] + work_.seconds[Part::attention];
  utilisation_.add(now_ns_, now_ns_ + took_ns * times,
                   {static_cast<double>(took_ns) * 1e-9 * stretch,
                    near * machine_.near / machine_.hbm * stretch, arithmetic * stretch});
  now_ns_ += took_ns * times;
  fold_.iterations_stood_for += static_cast<std::uint64_t>(times);
  fold_.layers_stood_for += weight_.size() * static_cast<std::uint64_t>(times);
}

} // namespace umf::app
