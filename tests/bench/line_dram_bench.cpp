#include "hw/dram/traffic.h"
#include "hw/line/line_dram.h"
#include "hw/line/line_source.h"
#include "model/base/json.h"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <string>

/// Requests a second through the TLM socket of a DRAM tier, in the configurations and on the
/// patterns of the public comparison of simulators (results/published/simulators). One
/// measurement a process: SystemC elaborates once.
using namespace umf;
using namespace umf::hw;

namespace {

constexpr const char* kSimulators[] = {"dramsim3-hbm2", "ramulator2-hbm3", "ramulator2-hbm2",
                                       "dramsys-hbm2"};
enum Pattern { stream, random_reads, mix21, idle };
constexpr const char* kPatterns[] = {"stream", "random", "mix21", "idle"};

/// The pattern as requests, `lines` accesses in each, over 1 GiB; cheap, for it is timed with the
/// rest.
class Feed : public LineFeed {
public:
  Feed(Pattern pattern, std::uint32_t access, std::uint32_t lines)
      : drawn_(pattern == random_reads || pattern == idle), writes_(pattern == mix21),
        bytes_(access * lines), lines_(lines) {}
  void more(std::uint64_t accesses) { end_ = at_ + accesses / lines_; }
  bool next(LineRequest& request) override {
    if (at_ == end_) return false;
    const std::uint64_t place = drawn_ ? dram::splitmix64(at_ + 1) : at_;
    ++at_;
    third_ = third_ == 2 ? 0 : third_ + 1;
    request = {place * bytes_ % (std::uint64_t{1} << 30), bytes_, writes_ && third_ == 0, {}};
    return true;
  }

private:
  bool drawn_, writes_;
  std::uint32_t bytes_, lines_, third_ = 0;
  std::uint64_t at_ = 0, end_ = 0;
};

dram::DramConfig configuration(const std::string& simulator) {
  const JsonValue file =
      read_json_file(UMF_SOURCE_DIR "/results/published/simulators/" + simulator + ".json");
  KeyContext context;
  const dram::DramStandard standard = dram::read_standard(*file.find("standard"), context);
  const auto controller = dram::controller_component().read(*file.find("controller"), context);
  context.throw_if_faulty();
  return dram::dram_config(standard, standard.tCK, controller, 1);
}

/// The listed speed and share of peak for this pattern.
struct Listed {
  double requests_per_second = 0, share = 0, latency_ns = 0;
};
Listed listed(const std::string& simulator, Pattern pattern) {
  std::ifstream file(UMF_SOURCE_DIR "/results/published/simulators/" + simulator + ".json");
  const auto published = nlohmann::json::parse(file).at("published");
  const auto number = [](const nlohmann::json& value) {
    return value.is_number() ? value.get<double>() : 0.0;
  };
  for (const auto& row : published)
    if (row.at("pattern") == kPatterns[pattern])
      return {number(row.at("requests_per_second")), number(row.at("share")),
              number(row.at("read_latency_ns"))};
  return {};
}

void run(benchmark::State& state, const std::string& simulator, Pattern pattern,
         std::uint32_t lines) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  static const bool once = (sc_core::sc_set_time_resolution(1, sc_core::SC_FS), true);
  (void)once;
  static std::unique_ptr<LineDram> memory;
  static std::unique_ptr<LineSource> source;
  static std::unique_ptr<Feed> feed;
  if (!memory) {
    memory =
        std::make_unique<LineDram>("memory", LineDram::Options{configuration(simulator), {}, {}});
    source = std::make_unique<LineSource>(
        "source", LineSource::Options{.outstanding = pattern == idle ? 1U : 0U});
    source->out.bind(memory->in);
    feed = std::make_unique<Feed>(pattern, memory->dram().access_bytes(), lines);
  }
  const std::uint64_t accesses = pattern == idle           ? 100'000
                                 : pattern == random_reads ? 1'000'000
                                                           : 2'000'000;
  for (auto _ : state) {
    feed->more(accesses);
    source->send(*feed);
    sc_core::sc_start();
  }
  if (source->answered() != source->sent()) state.SkipWithError("requests without an answer");
  const double seconds = memory->drain().seconds();
  const double bytes = static_cast<double>(source->sent()) * lines * memory->dram().access_bytes();
  const Listed theirs = listed(simulator, pattern);
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * accesses));
  state.counters["share"] = bytes / seconds / memory->dram().peak().value;
  state.counters["listed_share"] = theirs.share;
  state.counters["latency_ns"] = memory->statistics().media.mean() / 1e3;
  state.counters["listed_latency_ns"] = theirs.latency_ns;
  state.counters["listed_per_second"] = theirs.requests_per_second;
}

const bool registered = [] {
  for (const char* simulator : kSimulators)
    for (const Pattern pattern : {stream, random_reads, mix21, idle})
      for (const std::uint32_t lines : {1U, 16U}) {
        if (lines > 1 && pattern == idle) continue;
        benchmark::RegisterBenchmark((std::string("line_dram/") + simulator + "/" +
                                      kPatterns[pattern] + "/" + std::to_string(lines))
                                         .c_str(),
                                     run, std::string(simulator), pattern, lines)
            ->Unit(benchmark::kMillisecond)
            ->Iterations(1);
      }
  return true;
}();

} // namespace
