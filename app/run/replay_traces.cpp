#include "app/run/replay_traces.h"

#include "app/run/trace_source.h"
#include "traces/places.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace umf::app {

namespace {

/// Passes a stream on and keeps what initial residency and the mode of replay must know: the
/// weights, the device that first uses each, and whether there are times.
class FactCollector : public stream::Source {
public:
  FactCollector(std::unique_ptr<stream::Source> source, TraceFacts& facts)
      : source_(std::move(source)), facts_(facts) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (!source_->next(record)) return false;
    if (const auto* tensor = std::get_if<stream::Tensor>(&record)) {
      if (memory::region_of(tensor->role) == memory::Region::weight) {
        unused_[tensor->id] = weights_.size();
        weights_.push_back({*tensor, kUnused});
      }
    } else if (const auto* kernel = std::get_if<stream::Kernel>(&record)) {
      count_times(*kernel);
      for (const auto& access : kernel->accesses) {
        const auto weight = unused_.find(access.tensor);
        if (weight == unused_.end()) continue;
        weights_[weight->second].device = kernel->stream.device;
        unused_.erase(weight);
      }
    } else if (const auto* copy = std::get_if<stream::Copy>(&record)) {
      count_times(*copy);
    }
    return true;
  }

  /// Those that some kernel uses, in trace order.
  std::vector<hw::InitialTensor> weights() const {
    std::vector<hw::InitialTensor> used;
    std::copy_if(weights_.begin(), weights_.end(), std::back_inserter(used),
                 [](const hw::InitialTensor& weight) { return weight.device != kUnused; });
    return used;
  }

private:
  template <class Timed>
  void count_times(const Timed& operation) {
    facts_.issued += operation.issue_ns ? 1 : 0;
    facts_.timed += operation.issue_ns || operation.start_ns ? 1 : 0;
  }

  std::unique_ptr<stream::Source> source_;
  TraceFacts& facts_;
  static constexpr std::int32_t kUnused = INT32_MIN;
  std::vector<hw::InitialTensor> weights_;
  std::map<stream::TensorId, std::size_t> unused_; ///< weights no kernel has used yet
};

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

} // namespace

TraceFacts read_facts(const std::filesystem::path& trace, const std::filesystem::path& shapes_from,
                      std::function<bool()> stop) {
  TraceFacts facts;
  auto source = open_source(trace, std::move(stop), shapes_from);
  FactCollector pass(std::make_unique<StepCollector>(std::move(source), facts.steps), facts);
  facts.summary = traces::summarise(pass);
  facts.weights = pass.weights();
  return facts;
}

void require_work(const TraceFacts& facts, const std::filesystem::path& trace) {
  const auto& counted = facts.summary;
  if (counted.requests > 0 && counted.kernels + counted.copies.count + counted.memsets.count == 0)
    throw UserError(traces::place_of(trace.string()),
                    "requests and no kernels, expected serve-sim for them, or a trace of kernels");
}

void require_times(const TraceFacts& facts, hw::ReplayMode mode,
                   const std::filesystem::path& trace) {
  const auto& counted = facts.summary;
  if (counted.kernels + counted.copies.count + counted.memsets.count == 0) return;
  if (mode == hw::ReplayMode::open && facts.timed == 0)
    throw UserError(traces::place_of(trace.string()),
                    "no operation has a recorded time, which open replay goes by, expected "
                    "issue_ns or start_ns, or --replay closed");
  if (mode == hw::ReplayMode::hybrid && facts.issued == 0)
    throw UserError(traces::place_of(trace.string()),
                    "no operation has the time of its host call, whose gaps hybrid replay keeps, "
                    "expected issue_ns, or --replay open or closed");
}

std::vector<std::string> names_of(const std::vector<std::filesystem::path>& traces) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const auto& trace : traces) {
    const std::string name = trace.filename().string();
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n)
      unique = name + "#" + std::to_string(n);
    names.push_back(unique);
  }
  return names;
}

std::string origin_of(const stream::Header& header, const std::filesystem::path& trace) {
  if (!header.provenance.empty()) return header.format + ": " + header.provenance;
  std::error_code error;
  const auto whole = std::filesystem::weakly_canonical(trace, error);
  return "file " + (error ? trace : whole).string();
}

traces::Summary together(const std::vector<const traces::Summary*>& summaries) {
  traces::Summary all = *summaries.front();
  for (std::size_t s = 1; s < summaries.size(); ++s) {
    const traces::Summary& one = *summaries[s];
    if (all.header.format.find(one.header.format) == std::string::npos)
      all.header.format += " + " + one.header.format;
    all.kernels += one.kernels;
    all.unknown_kernels += one.unknown_kernels;
    all.streams += one.streams;
    all.copies.count += one.copies.count;
    all.copies.bytes += one.copies.bytes;
    all.memsets.count += one.memsets.count;
    all.requests += one.requests;
    for (std::size_t r = 0; r < traces::Summary::kRules; ++r) {
      all.inferred[r].kernels += one.inferred[r].kernels;
      all.inferred[r].bytes += one.inferred[r].bytes;
    }
    all.measured_kernel_ns = saturating_sum(all.measured_kernel_ns, one.measured_kernel_ns);
    all.busy_ns = saturating_sum(all.busy_ns, one.busy_ns);
    all.span_ns = std::max(all.span_ns, one.span_ns);
    all.oddities.insert(all.oddities.end(), one.oddities.begin(), one.oddities.end());
  }
  return all;
}

} // namespace umf::app
