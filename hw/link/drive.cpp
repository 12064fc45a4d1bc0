#include "hw/link/drive.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <algorithm>
#include <deque>

namespace umf::hw::link {

std::string_view name_of(Limit limit) {
  constexpr std::string_view kNames[] = {"load", "wire",        "tags", "credits",
                                         "rate", "translation", "media"};
  return kNames[static_cast<std::size_t>(limit)];
}

namespace {

constexpr double kFull = 0.95; ///< of its time: a wire that is the limit

/// One load on its way.
struct Runner {
  const Load* load;
  Loaded result;
  std::uint64_t issued = 0, finished = 0;
  std::uint32_t in_flight = 0;
  std::uint64_t read_bytes = 0, written_bytes = 0;       ///< within the window
  std::deque<std::pair<Femtoseconds, Finished>> between; ///< written, to be read
  bool done(double share) const {
    return static_cast<double>(finished) >= share * static_cast<double>(load->transactions);
  }
};

class Driver {
public:
  Driver(Network& network, const Drive& how) : network_(network), how_(how) {
    for (const Load& load : how.loads) {
      ensure(!load.targets.empty() && load.transactions > 0 && load.outstanding > 0,
             "a load that asks for nothing");
      runners_.push_back({&load, {}, 0, 0, 0, 0, 0, {}});
    }
  }

  Driven run() {
    for (const Drive::Train& train : how_.trainings)
      network_.retrain(train.link, train.at, train.rate);
    snapshot(begin_);
    while (!all(1.0)) {
      for (std::size_t i = 0; i < runners_.size(); ++i)
        issue(i);
      network_.advance(network_.now());
      const Femtoseconds until = due();
      ensure(until < kNever || network_.next() < kNever, "link: transactions that never finish");
      network_.advance_to_finish(until);
      collect();
      if (!measuring_ && all(how_.warm_up)) {
        measuring_ = true;
        snapshot(begin_);
      }
    }
    snapshot(end_);
    Driven driven = report();
    if (how_.drain) {
      while (network_.next() < kNever) {
        network_.advance(network_.next());
        network_.finished().clear();
        for (Runner& runner : runners_)
          runner.between.clear();
      }
      network_.prove_idle();
    }
    return driven;
  }

private:
  struct Snapshot {
    Femtoseconds at{};
    std::vector<DirectionStatistics> directions;
    std::vector<RequesterStatistics> requesters; ///< by node: reads, writes
    std::vector<MemoryStatistics> memories;
  };

  bool all(double share) const {
    return std::all_of(runners_.begin(), runners_.end(),
                       [share](const Runner& r) { return r.done(share); });
  }

  void issue(std::size_t index) {
    Runner& r = runners_[index];
    const Load& load = *r.load;
    while (!r.between.empty() && r.between.front().first <= network_.now()) {
      const Finished first = r.between.front().second;
      r.between.pop_front();
      const Item item = at(load, first.tag & kNumber);
      network_.submit(
          {*load.read_by, item.target, item.address, first.bytes, false, first.tag | kSecond});
    }
    while (r.in_flight < load.outstanding && due(r) <= network_.now()) {
      const Item item = at(load, r.issued);
      network_.submit({load.from, item.target, item.address,
                       static_cast<std::uint32_t>(load.size.count), item.write,
                       index << 48 | r.issued});
      ++r.issued;
      ++r.in_flight;
    }
  }

  struct Item {
    std::uint64_t address;
    NodeId target;
    bool write;
  };
  static Item at(const Load& load, std::uint64_t n) {
    const std::uint64_t stride = load.stride.count == 0 ? load.size.count : load.stride.count;
    const std::uint64_t places = std::max<std::uint64_t>(1, load.footprint.count / stride);
    const std::uint64_t place =
        load.random ? mix_bits((n + 1) * 0x9E3779B97F4A7C15U) % places : n % places;
    const std::uint64_t address = place * stride;
    return {address, load.targets[address / load.interleave.count % load.targets.size()],
            n * load.writes % load.period < load.writes};
  }

  static Femtoseconds due(const Runner& r) {
    if (!r.load->rate) return {};
    const double seconds = static_cast<double>(r.issued) * static_cast<double>(r.load->size.count) /
                           r.load->rate->value;
    return {static_cast<std::int64_t>(seconds * 1e15)};
  }
  Femtoseconds due() const {
    Femtoseconds next = kNever;
    for (const Runner& r : runners_) {
      if (r.in_flight < r.load->outstanding) next = std::min(next, due(r));
      if (!r.between.empty()) next = std::min(next, r.between.front().first);
    }
    return next;
  }

  void collect() {
    for (const Finished& f : network_.finished()) {
      Runner& r = runners_[(f.tag & ~kSecond) >> 48];
      const bool second = (f.tag & kSecond) != 0;
      if (f.write && r.load->read_by) {
        r.between.emplace_back(f.done + r.load->between, f);
        continue;
      }
      ++r.finished;
      --r.in_flight;
      if (!measuring_ && how_.warm_up > 0) continue;
      (f.write ? r.written_bytes : r.read_bytes) += f.bytes;
      ++(f.write ? r.result.writes : r.result.reads);
      const auto ps = [](Femtoseconds t) { return static_cast<std::uint64_t>(t.count / 1000); };
      (f.write ? r.result.write_port : r.result.read_port).add(ps(f.done - f.begun));
      if (!second)
        (f.write ? r.result.write_engine : r.result.read_engine).add(ps(f.done - f.asked));
    }
    network_.finished().clear();
  }

  void snapshot(Snapshot& s) const {
    s = {};
    s.at = network_.now();
    for (DirectionId d = 0; d < 2 * network_.links(); ++d)
      s.directions.push_back(network_.statistics(d));
    for (NodeId n = 0; n < network_.nodes(); ++n) {
      for (const bool write : {false, true})
        s.requesters.push_back(network_.requester(n, write));
      s.memories.push_back(network_.memory(n));
    }
  }

  Driven report() {
    Driven driven;
    const Femtoseconds window = end_.at - begin_.at;
    const double seconds = std::max(1e-15, window.seconds());
    for (Runner& r : runners_) {
      r.result.read_rate = {static_cast<double>(r.read_bytes) / seconds};
      r.result.write_rate = {static_cast<double>(r.written_bytes) / seconds};
      driven.loads.push_back(std::move(r.result));
    }
    driven.elapsed = end_.at;
    driven.directions = end_.directions;
    const auto share = [&](Femtoseconds later, Femtoseconds sooner) {
      return (later - sooner).seconds() / seconds;
    };
    double no_credit = 0;
    for (DirectionId d = 0; d < end_.directions.size(); ++d) {
      const double busy = share(end_.directions[d].busy(), begin_.directions[d].busy());
      if (busy > driven.busiest_share) {
        driven.busiest_share = busy;
        driven.busiest = d;
      }
      no_credit =
          std::max(no_credit, share(end_.directions[d].no_credit, begin_.directions[d].no_credit));
    }
    driven.limit = limit(driven.busiest_share, no_credit, share);
    return driven;
  }

  template <class Share>
  Limit limit(double busiest, double no_credit, const Share& share) const {
    if (busiest >= kFull) return Limit::wire;
    for (std::size_t n = 0; n < end_.memories.size(); ++n) {
      const MemoryStatistics &later = end_.memories[n], &sooner = begin_.memories[n];
      const std::uint64_t served = later.reads + later.writes - sooner.reads - sooner.writes;
      if (2 * (later.queued - sooner.queued) > served) return Limit::media;
    }
    double most = no_credit;
    Limit worst = Limit::credits;
    constexpr std::pair<Wait, Limit> kWaited[] = {{Wait::tags, Limit::tags},
                                                  {Wait::rate, Limit::rate},
                                                  {Wait::translation, Limit::translation}};
    for (std::size_t i = 0; i < end_.requesters.size(); ++i)
      for (const auto& [wait, named] : kWaited) {
        const auto w = static_cast<std::size_t>(wait);
        const double waited = share(end_.requesters[i].waited[w], begin_.requesters[i].waited[w]);
        if (waited > most) {
          most = waited;
          worst = named;
        }
      }
    return most > 0.5 ? worst : Limit::load;
  }

  static constexpr std::uint64_t kNumber = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t kSecond = std::uint64_t{1} << 63;

  Network& network_;
  const Drive& how_;
  std::vector<Runner> runners_;
  Snapshot begin_, end_;
  bool measuring_ = false;
};

} // namespace

Driven drive(Network& network, const Drive& how) {
  return Driver(network, how).run();
}

} // namespace umf::hw::link
