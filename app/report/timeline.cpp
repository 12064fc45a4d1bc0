#include "app/report/timeline.h"

#include "app/report/figures.h"
#include "hw/platform/longest.h"
#include "model/base/key_codec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace umf::app {

namespace {

// Processes of the picture: one a GPU from 1 on, then memories and links.
constexpr std::uint64_t kFirstGpu = 1, kMemories = 1001, kLinks = 1002;

/// Where a slice stands: the GPU, then the tenant and its stream, or the moves of the GPU's
/// scheduler, which come last.
struct TrackName {
  std::uint32_t gpu = 0;
  bool moves = false;
  std::uint32_t tenant = 0;
  stream::StreamId stream;
  auto operator<=>(const TrackName&) const = default;
  std::string text() const {
    if (moves) return "moves";
    const std::string name = "stream " + std::to_string(stream.stream);
    return tenant == 0 ? name : name + " of tenant " + std::to_string(tenant);
  }
};

/// Threads of one track: slices that overlap stand side by side.
struct Track {
  std::uint64_t first_thread = 0, kept = 0, left_out = 0;
  std::vector<std::int64_t> free_from; ///< by lane
};

struct Slice {
  const hw::OperationRow* row = nullptr; ///< null: a move, or steps of a sync
  hw::MoveSpan move{};
  TrackName track;
  Femtoseconds start{}, end{};
  const char* steps = nullptr; ///< what is done of a sync
  std::uint64_t thread = 0;
};

/// A counter event: series of one moment.
struct Sample {
  Femtoseconds at{};
  std::uint64_t process = 0;
  const std::string* name = nullptr;
  std::string series; ///< members of "args"
};

/// Microseconds to the last femtosecond.
void append_us(std::string& text, Femtoseconds time) {
  constexpr std::uint64_t per_us = 1'000'000'000;
  const auto count = static_cast<std::uint64_t>(time.count);
  append_whole(text, count / per_us);
  text += '.';
  const std::string fraction = std::to_string(count % per_us + per_us); // "1" and nine digits
  text.append(fraction, 1);
}

/// To a thousandth.
void append_thousandths(std::string& text, std::uint64_t thousandths) {
  append_whole(text, thousandths / 1000);
  text += '.';
  text.append(std::to_string(thousandths % 1000 + 1000), 1);
}

void append_gb_per_s(std::string& text, std::uint64_t bytes, Femtoseconds window) {
  const double mb_per_s = static_cast<double>(bytes) / window.seconds() / 1e6;
  append_thousandths(text, static_cast<std::uint64_t>(mb_per_s + 0.5));
}

void append_gib(std::string& text, std::uint64_t bytes) {
  append_thousandths(text, static_cast<std::uint64_t>(static_cast<double>(bytes) * 1000 /
                                                      static_cast<double>(1ULL << 30)));
}

/// A JSON string of a name as it is shown: kernels' names run to thousands of characters.
std::string shown(const std::string& name) {
  constexpr std::size_t kLongest = 120;
  const bool cut = name.size() > kLongest;
  const nlohmann::json text = cut ? name.substr(0, kLongest) + "…" : name;
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Timeline {
public:
  explicit Timeline(const ReplayRun& run)
      : run_(run), windows_(run.platform->sampler().windows()),
        most_(run.platform->scenario().report.timeline_events) {}

  std::string text() {
    take_samples();
    take_slices();
    place_slices();
    out_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":";
    write_facts();
    out_ += ",\"traceEvents\":[\n";
    write_names();
    write_events();
    return std::move(out_) + "\n]}\n";
  }

private:
  const hw::Platform& platform() const { return *run_.platform; }

  /// Rows joined into one sample, so that counters take at most half of all events.
  std::size_t stride() const {
    const std::size_t counters = 2 * platform().tiers().size() + platform().links().size();
    std::size_t stride = 1;
    while (windows_.rows() / stride * counters > most_ / 2)
      stride *= 2;
    return stride;
  }

  /// Kept only where it differs from the sample before.
  void sample(Femtoseconds at, std::uint64_t process, const std::string& name, std::string series) {
    ++samples_seen_;
    std::string& last = last_of_[{process, name}];
    if (last == series) return;
    last = series;
    samples_.push_back(
        {at, process, &last_of_.find({process, name})->first.second, std::move(series)});
  }

  std::uint64_t sum(std::size_t row, std::size_t end, std::size_t column) const {
    std::uint64_t all = 0;
    for (; row < end; ++row)
      all += windows_.at(row, column);
    return all;
  }

  /// Rates of two directions over the windows [row, end).
  void sample_rates(std::size_t row, std::size_t end, Femtoseconds length, std::uint64_t process,
                    const std::string& name, std::size_t column, const char* first,
                    const char* second) {
    std::string series = std::string("\"") + first + "\":";
    append_gb_per_s(series, sum(row, end, column), length);
    series += std::string(",\"") + second + "\":";
    append_gb_per_s(series, sum(row, end, column + 1), length);
    sample(windows_.start(row), process, name, std::move(series));
  }

  void sample_levels(std::size_t row, Femtoseconds at, const std::string& name,
                     std::size_t column) {
    std::string series;
    for (std::size_t r = 0; r < memory::kRegions; ++r) {
      series += r > 0 ? ",\"" : "\"";
      series += memory::name_of(static_cast<memory::Region>(r));
      series += "\":";
      append_gib(series, windows_.at(row, column + r));
    }
    sample(at, kMemories, name, std::move(series));
  }

  void take_samples() {
    const hw::Sampler& sampler = platform().sampler();
    stride_ = stride();
    for (std::size_t row = 0; row < windows_.rows(); row += stride_) {
      const std::size_t end = std::min(row + stride_, windows_.rows());
      const Femtoseconds until = windows_.start(end - 1) + windows_.length(end - 1);
      const Femtoseconds length = until - windows_.start(row);
      if (length.count == 0) continue;
      for (std::size_t t = 0; t < platform().tiers().size(); ++t) {
        const std::string& name = platform().tiers()[t].name;
        const std::size_t column = sampler.tier_column(t);
        sample_rates(row, end, length, kMemories, name + " traffic (GB/s)", column, "read",
                     "written");
        sample_levels(end - 1, until, name + " occupancy (GiB)",
                      column + hw::Sampler::region_bytes);
      }
      for (std::size_t l = 0; l < platform().links().size(); ++l)
        sample_rates(row, end, length, kLinks, platform().links()[l]->link_name() + " (GB/s)",
                     sampler.link_column(l), "tx", "rx");
    }
    std::stable_sort(samples_.begin(), samples_.end(),
                     [](const Sample& a, const Sample& b) { return a.at < b.at; });
  }

  void take_slices() {
    hw::Longest<Slice> longest(most_ - std::min<std::uint64_t>(most_, samples_.size()));
    for (const auto& row : run_.rows) {
      const TrackName track{row.gpu, false, row.tenant, row.stream};
      ++tracks_[track].left_out;
      longest.add(row.result.end - row.result.start,
                  {&row, {}, track, row.result.start, row.result.end});
    }
    const auto& moves = platform().sampler().moves();
    for (const hw::MoveSpan& move : moves.kept()) {
      const TrackName track{move.gpu, true, 0, {}};
      const auto add = [&](Femtoseconds start, Femtoseconds end, const char* steps = nullptr) {
        ++tracks_[track].left_out;
        longest.add(end - start, {nullptr, move, track, start, end, steps});
      };
      if (!move.sync) {
        add(move.accepted, move.completed);
        continue;
      }
      add(move.accepted, move.begun, "1 reads suspended, 2 the write lands");
      add(move.begun, move.copied, "3 copied to the pool");
      add(move.copied, move.completed, "4 dirty bit set, 5 reads go on");
    }
    slices_ = longest.kept();
    moves_forgotten_ = moves.left_out();
    for (const Slice& slice : slices_) {
      Track& track = tracks_.at(slice.track);
      ++track.kept;
      --track.left_out;
    }
  }

  /// In order of time, each on the first lane of its track that is free.
  void place_slices() {
    std::stable_sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
      return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    std::map<TrackName, std::vector<std::size_t>> lane_of;
    for (const Slice& slice : slices_) {
      auto& lanes = tracks_.at(slice.track).free_from;
      const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                     [&](std::int64_t from) { return from <= slice.start.count; });
      lane_of[slice.track].push_back(static_cast<std::size_t>(lane - lanes.begin()));
      if (lane == lanes.end()) lanes.push_back(0);
      lanes[lane_of[slice.track].back()] = slice.end.count;
    }
    std::uint64_t next = 1;
    for (auto& [name, track] : tracks_) {
      track.first_thread = next;
      next += std::max<std::size_t>(track.free_from.size(), 1);
    }
    std::map<TrackName, std::size_t> at;
    for (Slice& slice : slices_)
      slice.thread = tracks_.at(slice.track).first_thread + lane_of[slice.track][at[slice.track]++];
  }

  void write_facts() {
    out_ += "{\"machine\":" + text_json(platform().scenario().general.name) +
            ",\"rule\":\"of slices the longest are kept, of equals the first; counters stand for " +
            std::to_string(stride_) +
            " window(s) of timeseries.csv and are left out where they "
            "did not change\",\"tracks\":[";
    std::uint64_t kept = 0, left_out = moves_forgotten_;
    for (const auto& [name, track] : tracks_) {
      kept += track.kept;
      left_out += track.left_out;
      out_ += "\n{\"gpu\":" + std::to_string(name.gpu) + ",\"track\":" + text_json(name.text()) +
              ",\"kept\":" + std::to_string(track.kept) +
              ",\"left_out\":" + std::to_string(track.left_out) + "},";
    }
    if (!tracks_.empty()) out_.pop_back();
    out_ += "],\"slices_kept\":" + std::to_string(kept) +
            ",\"slices_left_out\":" + std::to_string(left_out) +
            ",\"samples_kept\":" + std::to_string(samples_.size()) +
            ",\"samples_left_out\":" + std::to_string(samples_seen_ - samples_.size()) + "}";
  }

  /// What a process or a thread is called, and where it stands among its like.
  void name(const char* what, std::uint64_t process, std::uint64_t thread, const char* member,
            const std::string& value) {
    if (!first_) out_ += ",\n";
    first_ = false;
    out_ += std::string("{\"ph\":\"M\",\"ts\":0,\"name\":\"") + what +
            "\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) +
            ",\"args\":{\"" + member + "\":" + value + "}}";
  }

  void write_names() {
    const auto process = [&](std::uint64_t id, const std::string& called) {
      name("process_name", id, 0, "name", text_json(called));
      name("process_sort_index", id, 0, "sort_index", std::to_string(id));
    };
    for (std::uint32_t g = 0; g < platform().gpus(); ++g)
      process(kFirstGpu + g, hw::gpu_name(g));
    process(kMemories, "memories");
    if (!platform().links().empty()) process(kLinks, "links");
    for (const auto& [track, place] : tracks_)
      for (std::size_t lane = 0; lane < std::max<std::size_t>(place.free_from.size(), 1); ++lane) {
        std::string called = track.text();
        if (place.free_from.size() > 1) called += " (" + std::to_string(lane + 1) + ")";
        if (place.left_out > 0)
          called += ", " + std::to_string(place.left_out) + " shorter ones left out";
        name("thread_name", kFirstGpu + track.gpu, place.first_thread + lane, "name",
             text_json(called));
        name("thread_sort_index", kFirstGpu + track.gpu, place.first_thread + lane, "sort_index",
             std::to_string(place.first_thread + lane));
      }
  }

  /// Slices and samples merged in order of time.
  void write_events() {
    std::size_t sample = 0;
    for (const Slice& slice : slices_) {
      for (; sample < samples_.size() && samples_[sample].at <= slice.start; ++sample)
        write(samples_[sample]);
      write(slice);
    }
    for (; sample < samples_.size(); ++sample)
      write(samples_[sample]);
  }

  void write(const Sample& sample) {
    out_ += ",\n{\"ph\":\"C\",\"ts\":";
    append_us(out_, sample.at);
    out_ += ",\"pid\":";
    append_whole(out_, sample.process);
    out_ += ",\"name\":" + text_json(*sample.name) + ",\"args\":{" + sample.series + "}}";
  }

  void write(const Slice& slice) {
    out_ += ",\n{\"ph\":\"X\",\"ts\":";
    append_us(out_, slice.start);
    out_ += ",\"dur\":";
    append_us(out_, slice.end - slice.start);
    out_ += ",\"pid\":";
    append_whole(out_, kFirstGpu + slice.track.gpu);
    out_ += ",\"tid\":";
    append_whole(out_, slice.thread);
    if (slice.row != nullptr)
      write_operation(*slice.row);
    else
      write_move(slice);
  }

  void write_operation(const hw::OperationRow& row) {
    constexpr const char* kinds[] = {"kernel", "copy", "memset"};
    std::string& called = shown_[row.name.get()];
    if (called.empty()) called = shown(*row.name);
    out_ += ",\"cat\":\"";
    out_ += kinds[static_cast<std::size_t>(row.kind)];
    out_ += "\",\"name\":" + called + ",\"args\":{\"id\":";
    append_whole(out_, row.id);
    out_ += ",\"bound_by\":\"" + bound_by(row) + "\",\"bytes_read\":";
    append_whole(out_, row.result.read.count);
    out_ += ",\"bytes_written\":";
    append_whole(out_, row.result.written.count);
    out_ += ",\"dram_bytes\":";
    append_whole(out_, row.result.dram.count);
    out_ += ",\"energy_j\":" + decimal_joules(row.result.energy) + "}}";
  }

  void write_move(const Slice& slice) {
    const hw::MoveSpan& move = slice.move;
    const auto& tiers = platform().tiers();
    if (move.scan) {
      out_ += ",\"cat\":\"scan\",\"name\":\"scan of the page table\",\"args\":{\"command\":" +
              std::to_string(move.id) + ",\"entries\":" + std::to_string(move.pages) + "}}";
      return;
    }
    out_ += std::string(",\"cat\":\"") + (move.sync ? "sync" : "move") + "\",\"name\":" +
            text_json((move.sync ? std::string(slice.steps) + ": " : "") + tiers[move.from].name +
                      " → " + tiers[move.to].name) +
            ",\"args\":{\"command\":" + std::to_string(move.id) +
            ",\"pages\":" + std::to_string(move.pages) +
            ",\"bytes\":" + std::to_string(move.bytes) + "}}";
  }

  const ReplayRun& run_;
  const hw::Windows& windows_;
  std::uint64_t most_;
  std::string out_;
  bool first_ = true;
  std::size_t stride_ = 1;
  std::uint64_t samples_seen_ = 0, moves_forgotten_ = 0;
  std::vector<Sample> samples_;
  std::map<std::pair<std::uint64_t, std::string>, std::string> last_of_; ///< by process and name
  std::vector<Slice> slices_;
  std::map<TrackName, Track> tracks_;
  std::unordered_map<const std::string*, std::string> shown_; ///< looked up, never walked
};

} // namespace

std::string timeline_json(const ReplayRun& run) {
  return Timeline(run).text();
}

} // namespace umf::app
