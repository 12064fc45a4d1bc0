#include "app/run/address_run.h"

#include "app/report/json_text.h"
#include "app/report/quantities.h"
#include "app/run/trace_source.h"
#include "hw/line/line_source.h"
#include "hw/platform/scenario.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "model/base/nearest.h"
#include "model/base/quantity.h"
#include "traces/address/reader.h"

#include "app/version.h"

#include <fmt/format.h>

#include <chrono>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::uint32_t kLine = 64;

/// The trace as requests in time; faults of a line end the simulation and are thrown after it.
class Feed : public hw::LineFeed {
public:
  Feed(const AddressRequest& request, const hw::LineDram& memory, Bytes capacity, AddressRun& run)
      : reader_(std::filesystem::path(request.trace)), stop_(request.stop), capacity_(capacity),
        clock_(memory.clock()), run_(run) {}

  bool next(hw::LineRequest& request) override {
    try {
      return read(request);
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }
  traces::address::Form form() const { return reader_.form(); }

private:
  bool read(hw::LineRequest& request) {
    traces::address::AddressRequest line;
    if (!reader_.next(line)) return false;
    if (++run_.requests % 65536 == 0 && stop_ && stop_()) throw Interrupted{};
    if (line.address >= capacity_.count)
      throw UserError(fmt::format(
          "{}:{}: address {:#x} lies beyond the {} of tier {}, expected one below {:#x}",
          reader_.name(), reader_.line(), line.address, print(capacity_), run_.tier,
          capacity_.count));
    ++(line.write ? run_.writes : run_.reads);
    if (reader_.timed())
      at_ = clock_ * static_cast<std::int64_t>(line.cycle_or_gap);
    else if (reader_.gaps())
      at_ += clock_ * static_cast<std::int64_t>(line.cycle_or_gap);
    request = {line.address / kLine * kLine, kLine, line.write, at_};
    return true;
  }

  traces::address::Reader reader_;
  std::function<bool()> stop_;
  Bytes capacity_;
  Femtoseconds clock_, at_{};
  AddressRun& run_;
  std::exception_ptr failure_;
};

const hw::TierSpec& find_tier(const hw::Scenario& scenario, const std::string& name) {
  std::vector<std::string> playable;
  for (const auto& tier : scenario.tiers) {
    if (!tier->line()) continue;
    if (name.empty() || tier->name == name) return *tier;
    playable.push_back(tier->name);
  }
  if (playable.empty())
    throw UserError("--resolution line: no memory of this scenario has DRAM banks, expected a tier "
                    "of kind hbm or cxl");
  throw UserError(fmt::format("--tier: no memory {} with DRAM banks, {}", in_quotes(name),
                              suggestion(name, playable)));
}

} // namespace

AddressRun run_addresses(const AddressRequest& request) {
  const auto began = std::chrono::steady_clock::now();
  const hw::Scenario scenario = hw::read_scenario(load_scenario(request.scenario, request.sets));
  const hw::TierSpec& tier = find_tier(scenario, request.tier);
  const hw::TierSpec::Line line = *tier.line();
  AddressRun run;
  run.source = std::filesystem::path(request.trace).filename().string();
  run.scenario = scenario.general.name;
  run.hash = scenario.hash;
  run.seed = scenario.general.seed;
  run.tier = tier.name;
  run.capacity = tier.capacity();

  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  hw::LineDram memory("memory",
                      {hw::dram::config(line.media), line.media_latency, line.port_latency});
  hw::LineSource::Options sending;
  sending.outstanding = request.outstanding;
  hw::LineSource source("source", sending);
  source.out.bind(memory.in);
  Feed feed(request, memory, run.capacity, run);
  source.send(feed);
  sc_core::sc_start();
  feed.rethrow();

  run.form = std::string(traces::address::name_of(feed.form()));
  run.elapsed = std::max(source.last(), memory.drain());
  run.answered = source.answered();
  run.line = memory.statistics();
  run.dram = memory.dram().statistics();
  run.peak = memory.dram().peak();
  run.clock = memory.clock();
  run.units = memory.dram().units();
  const std::uint64_t each = kLine / std::min(kLine, memory.dram().access_bytes());
  run.ledger = {{"requests of the trace = requests answered", run.requests, run.answered},
                {"bytes asked = bytes read + written", run.requests * kLine,
                 run.line.read_bytes + run.line.write_bytes},
                {"accesses read = on the bus + from write queues", run.reads * each,
                 run.dram.sum.reads + run.dram.sum.forwarded},
                {"accesses written = on the bus", run.writes * each, run.dram.sum.writes}};
  run.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return run;
}

namespace {

Json latency_json(const Histogram& h) {
  const auto ns = [](auto picoseconds) { return static_cast<double>(picoseconds) / 1000.0; };
  return {{"mean", ns(h.mean())},
          {"p50", ns(h.percentile(50))},
          {"p95", ns(h.percentile(95))},
          {"p99", ns(h.percentile(99))},
          {"max", ns(h.max())}};
}

double utilisation(const AddressRun& run) {
  const double bytes = static_cast<double>(run.line.read_bytes + run.line.write_bytes);
  return run.elapsed.count == 0 ? 0.0 : bytes / run.elapsed.seconds() / run.peak.value;
}

/// Shares of the time of all data buses.
Json lost_json(const AddressRun& run) {
  Json lost = Json::object();
  const double all = static_cast<double>(run.dram.sum.last_data) * run.units;
  for (std::size_t l = 0; l < hw::dram::kLimits; ++l)
    lost[std::string(hw::dram::name_of(static_cast<hw::dram::Limit>(l)))] =
        all == 0 ? 0.0 : static_cast<double>(run.dram.sum.lost[l]) / all;
  return lost;
}

std::string limiter(const AddressRun& run) {
  const auto& lost = run.dram.sum.lost;
  const auto most = std::max_element(lost.begin(), lost.end()) - lost.begin();
  return std::string(hw::dram::name_of(static_cast<hw::dram::Limit>(most)));
}

} // namespace

Json summary_json(const AddressRun& run) {
  Json checks = Json::array();
  for (const auto& check : run.ledger)
    checks.push_back(
        {{"name", check.name}, {"ok", check.ok()}, {"left", check.left}, {"right", check.right}});
  const auto& sum = run.dram.sum;
  Json latency = Json::object();
  if (run.line.media.count() > 0)
    latency = {{"media", latency_json(run.line.media)}, {"port", latency_json(run.line.port)}};
  return {
      {"version", kVersion},
      {"scenario", {{"name", run.scenario}, {"hash", fmt::format("{:016x}", run.hash)}}},
      {"seed", run.seed},
      {"resolution", "line"},
      {"trace",
       {{"source", run.source},
        {"format", "address"},
        {"form", run.form},
        {"requests", run.requests},
        {"reads", run.reads},
        {"writes", run.writes}}},
      {"time", {{"simulated_ns", exact_ns(run.elapsed)}}},
      {"tiers",
       {{run.tier,
         {{"read_bytes", run.line.read_bytes},
          {"write_bytes", run.line.write_bytes},
          {"capacity_bytes", run.capacity.count},
          {"peak_bytes_per_s", run.peak.value},
          {"utilisation", utilisation(run)},
          {"limiter", limiter(run)},
          {"lost", lost_json(run)},
          {"row_hits", sum.row_hits},
          {"activates", sum.activates},
          {"forwarded_reads", sum.forwarded},
          {"refreshes", {{"due", run.dram.refreshes_due}, {"issued", run.dram.refreshes_issued}}},
          {"accesses_of_a_unit",
           {{"least", run.dram.least_accesses}, {"most", run.dram.most_accesses}}},
          {"latency_ns", latency}}}}},
      {"ledger", {{"ok", hw::balanced(run.ledger)}, {"checks", checks}}}};
}

std::string terminal_report(const AddressRun& run) {
  const auto& h = run.line.port;
  const auto ns = [](auto picoseconds) { return static_cast<double>(picoseconds) / 1e3; };
  std::string text = fmt::format("umfsim replay  {} on {}, tier {}  (line resolution)\n\n",
                                 run.source, run.scenario, run.tier);
  text += fmt::format("requests       {} of 64 B: {} reads, {} writes; {} answered\n", run.requests,
                      run.reads, run.writes, run.answered);
  text += fmt::format("simulated      {}\n", duration(run.elapsed.seconds()));
  const double bytes = static_cast<double>(run.line.read_bytes + run.line.write_bytes);
  text += fmt::format(
      "bandwidth      {:.3f} GB/s of {:.1f} GB/s peak ({:.2f} %), read share {:.2f}\n",
      run.elapsed.count == 0 ? 0.0 : bytes / run.elapsed.seconds() / 1e9, run.peak.value / 1e9,
      100 * utilisation(run), bytes == 0 ? 0.0 : static_cast<double>(run.line.read_bytes) / bytes);
  text +=
      fmt::format("read latency   mean {:.1f}, p50 {:.1f}, p99 {:.1f} ns (boundary: port, queueing "
                  "included)\n",
                  ns(h.mean()), ns(h.percentile(50)), ns(h.percentile(99)));
  text += fmt::format("limiter        {}\n", limiter(run));
  text += fmt::format("refreshes      {} issued, {} due\n", run.dram.refreshes_issued,
                      run.dram.refreshes_due);
  text += fmt::format("ledger         {}\n",
                      hw::balanced(run.ledger) ? "balances" : "DOES NOT BALANCE");
  return text;
}

} // namespace umf::app
