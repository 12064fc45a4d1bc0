#include "app/validate/replayed.h"

#include "app/run/apart.h"
#include "hw/platform/ledger.h"
#include "hw/platform/platform.h"
#include "hw/platform/replay.h"
#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <systemc>

#include <algorithm>
#include <deque>
#include <set>
#include <stdexcept>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;

/// The kernels as a stream, each between the birth and the death of its tensors.
class KernelSource : public stream::Source {
public:
  explicit KernelSource(const std::vector<MeasuredKernel>& kernels) : kernels_(kernels) {}

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record& record) override {
    if (queue_.empty() && at_ < kernels_.size()) fill(kernels_[at_++]);
    if (queue_.empty()) return false;
    record = std::move(queue_.front());
    queue_.pop_front();
    return true;
  }

private:
  void fill(const MeasuredKernel& measured) {
    stream::Kernel kernel;
    kernel.name = "measured";
    kernel.rule = stream::Rule::recorded;
    kernel.grid = {measured.blocks, 1, 1};
    kernel.block = {measured.threads, 1, 1};
    if (measured.blocks == 0) kernel.grid = kernel.block = {};
    kernel.registers_per_thread = measured.registers;
    kernel.shared_memory = measured.shared_memory;
    kernel.flops = measured.flops;
    if (measured.flops > 0) kernel.flops_dtype = stream::DType::bf16;
    const stream::TensorId first = tensors_ + 1;
    for (const MeasuredAccess& access : measured.accesses) {
      stream::Tensor tensor;
      tensor.id = ++tensors_;
      tensor.role = stream::Role::activation;
      tensor.dtype = stream::DType::u8;
      tensor.shape = {static_cast<std::int64_t>(access.bytes)};
      tensor.bytes = {access.bytes};
      queue_.push_back(tensor);
      stream::Access touched;
      touched.tensor = tensor.id;
      touched.write = access.write;
      touched.rule = stream::Rule::recorded;
      touched.length = tensor.bytes;
      kernel.accesses.push_back(touched);
    }
    for (std::uint32_t n = 0; n < measured.times; ++n) {
      kernel.id = ++ids_;
      queue_.push_back(kernel);
    }
    for (stream::TensorId id = first; id <= tensors_; ++id)
      queue_.push_back(stream::Free{id});
  }

  const std::vector<MeasuredKernel>& kernels_;
  stream::Header header_;
  std::deque<stream::Record> queue_;
  std::size_t at_ = 0;
  stream::TensorId tensors_ = 0;
  stream::KernelId ids_ = 0;
};

std::vector<ReplayedKernel> replay(const Published::Machine& machine,
                                   const std::vector<MeasuredKernel>& kernels) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  hw::Platform platform(scenario_of(machine));
  hw::TenantSetup setup;
  setup.open = [&] { return std::make_unique<KernelSource>(kernels); };
  std::vector<ReplayedKernel> launches;
  hw::Replay replay(platform, {setup}, [&](hw::OperationRow&& row) {
    const std::size_t at = row.result.id - 1;
    if (launches.size() <= at) launches.resize(at + 1);
    launches[at] = {row.result.end - row.result.start, row.result.read, row.result.written,
                    row.result.dram};
  });
  replay.run();
  if (!hw::balanced(hw::balance(platform, replay.totals(), hw::sim_now())))
    throw std::runtime_error("the ledger does not balance");
  std::vector<ReplayedKernel> last;
  std::size_t at = 0;
  for (const MeasuredKernel& kernel : kernels) {
    at += kernel.times;
    last.push_back(launches.at(at - 1));
  }
  return last;
}

} // namespace

hw::Scenario scenario_of(const Published::Machine& machine) {
  return hw::read_scenario(load_scenario(machine.scenario, machine.sets));
}

std::vector<ReplayedKernel> replay_kernels(const Published::Machine& machine,
                                           const std::vector<MeasuredKernel>& kernels) {
  const Outcome outcome =
      run_apart({{machine.scenario,
                  [&] {
                    Json all = Json::array();
                    for (const ReplayedKernel& kernel : replay(machine, kernels))
                      all.push_back({kernel.duration.count, kernel.read.count, kernel.written.count,
                                     kernel.dram.count});
                    const auto bytes = Json::to_msgpack(all);
                    return std::string(bytes.begin(), bytes.end());
                  }}})
          .front();
  if (outcome.refused) throw UserError(outcome.text);
  std::vector<ReplayedKernel> kernels_done;
  for (const Json& one : Json::from_msgpack(outcome.text))
    kernels_done.push_back({{one[0].get<std::int64_t>()},
                            {one[1].get<std::uint64_t>()},
                            {one[2].get<std::uint64_t>()},
                            {one[3].get<std::uint64_t>()}});
  return kernels_done;
}

} // namespace umf::app
