#include "hw/dram/drive.h"

#include "model/base/error.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>

namespace umf::hw::dram {

namespace {

class Driver {
public:
  Driver(Dram& dram, const Drive& drive) : dram_(dram), drive_(drive), requests_(drive.requests) {
    slots_.reserve(4096);
    if (drive.arrivals) requests_ = UINT64_MAX;
    ensure(drive.warm_up < requests_, "a drive that measures nothing");
    if (!drive.streams.empty())
      walk_.emplace(drive.streams, Bytes{dram.bytes()}, Bytes{dram.access_bytes()});
  }

  Driven run() {
    begin_ = now_;
    waiting_.resize(dram_.units());
    while (issued_ < requests_)
      if (!issue()) wait();
    const Cycle issued = now_;
    while (parked_ > 0)
      wait();
    while (!dram_.idle()) {
      now_ = std::max(now_, dram_.next() + 1);
      dram_.advance(now_);
      collect();
    }
    return report(issued);
  }

private:
  struct Slot {
    Cycle offered, taken;
    bool measured;
  };

  /// False: the next request may not go now.
  bool issue() {
    if (drive_.outstanding != 0 && in_flight_ == drive_.outstanding) return false;
    if (!head_) {
      if (drive_.arrivals && !arrival_ && !(arrival_ = drive_.arrivals())) {
        requests_ = issued_;
        return true;
      }
      offered_ = arrival_ ? arrival_->at : std::max(now_, due(issued_));
      if (offered_ > now_) return false;
      const auto item = arrival_ ? Traffic::Item{arrival_->address, arrival_->write}
                        : walk_  ? walk_->next()
                                 : drive_.traffic.at(issued_);
      where_ = dram_.locate(item.address);
      write_ = item.write;
      head_ = true;
      measured_ = arrival_ ? arrival_->measured : issued_ >= drive_.warm_up;
      if (measured_ && driven_.reads + driven_.writes == 0) begin_ = offered_;
      arrival_.reset();
    }
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t tag = free_.back();
    const bool behind = drive_.window != 0 && !waiting_[where_.unit].empty();
    const Offer offer = behind ? Offer::refused : dram_.offer(where_, write_, tag, now_);
    if (offer == Offer::refused) {
      if (parked_ == drive_.window) return false;
      waiting_[where_.unit].push_back({where_, tag, write_});
      ++parked_;
    }
    free_.pop_back();
    slots_[tag] = {offered_, now_, measured_};
    count_forwarded(offer, write_, measured_);
    if (measured_) ++(write_ ? driven_.writes : driven_.reads);
    head_ = false;
    ++issued_;
    ++in_flight_;
    return true;
  }

  /// A read that is done at once found its data in the write queue and takes no bus.
  void count_forwarded(Offer offer, bool write, bool measured) {
    if (offer == Offer::done && !write && measured) ++forwarded_;
  }

  /// Moves what waits beside the queues into them, and says when more of it may go.
  Cycle unpark() {
    Cycle next = kNever;
    for (std::uint32_t u = 0; u < waiting_.size(); ++u) {
      auto& line = waiting_[u];
      if (line.empty()) continue;
      while (!line.empty()) {
        const Parked& head = line.front();
        const Offer offer = dram_.offer(head.where, head.write, head.tag, now_);
        if (offer == Offer::refused) break;
        slots_[head.tag].taken = now_;
        count_forwarded(offer, head.write, slots_[head.tag].measured);
        line.pop_front();
        --parked_;
      }
      if (!line.empty()) next = std::min(next, dram_.room(u));
    }
    return next;
  }

  /// On to the next instant at which something can change for the asker.
  void wait() {
    collect();
    const bool full = drive_.outstanding != 0 && in_flight_ == drive_.outstanding;
    Cycle until = kNever;
    if (parked_ > 0) {
      const std::uint32_t before = parked_;
      until = std::max(now_ + 1, unpark());
      if (parked_ < before) return; // there is room beside the queues again
    }
    if (head_ && !full && drive_.window == 0)
      until = std::min(until, std::max(now_ + 1, dram_.room(where_.unit)));
    if (!head_ && !full && issued_ < requests_) until = std::min(until, offered_);
    if (full) {
      // The earliest completion, known or not.
      for (;;) {
        const Cycle known = done_.empty() ? kNever : done_.top();
        const Cycle bound = dram_.horizon();
        if (std::min(bound, known) >= until) break;
        if (bound >= known) {
          until = known;
          break;
        }
        const Timings& t = dram_.config().timings;
        dram_.advance(std::min(bound, known) - t.tCL - t.burst + 1);
        collect();
      }
    }
    if (head_ && !full) blocked_ += until - now_;
    now_ = std::max(now_, until);
    if (head_ && !full && drive_.window == 0) dram_.advance(where_.unit, now_);
    collect();
    while (!done_.empty() && done_.top() <= now_) {
      done_.pop();
      --in_flight_;
    }
  }

  void collect() {
    for (const Done& done : dram_.done()) {
      const Slot& slot = slots_[done.tag];
      if (!done.write && slot.measured) {
        driven_.media.add(picoseconds(done.at - slot.taken));
        driven_.port.add(picoseconds(done.at - slot.offered));
      }
      last_ = std::max(last_, done.at);
      free_.push_back(done.tag);
      if (drive_.outstanding != 0)
        done_.push(done.at);
      else
        --in_flight_;
    }
    dram_.done().clear();
  }

  std::uint64_t picoseconds(Cycle clocks) const {
    return static_cast<std::uint64_t>(dram_.time(clocks).count / 1000);
  }

  Cycle due(std::uint64_t n) const {
    if (!drive_.rate) return 0;
    const double seconds = static_cast<double>(n) * dram_.access_bytes() / drive_.rate->value;
    return dram_.clocks({static_cast<std::int64_t>(seconds * 1e15)});
  }

  Driven report(Cycle issued) {
    driven_.statistics = dram_.statistics();
    const ChannelStatistics& sum = driven_.statistics.sum;
    const Cycle end = std::max(last_, sum.last_data);
    driven_.elapsed = dram_.time(end - begin_);
    const double seconds = driven_.elapsed.seconds();
    const double taking = dram_.time(std::max<Cycle>(issued - begin_, 1)).seconds();
    const std::uint64_t served = driven_.reads + driven_.writes;
    const auto rate = [&](std::uint64_t accesses) {
      return static_cast<double>(accesses * dram_.access_bytes()) / seconds;
    };
    driven_.bandwidth = {rate(served)};
    driven_.sustained = {driven_.bandwidth.value * seconds / taking};
    driven_.share = rate(served - forwarded_) / dram_.peak().value;
    driven_.blocked = static_cast<double>(blocked_) / static_cast<double>(std::max<Cycle>(1, now_));
    const auto most = std::max_element(sum.lost.begin(), sum.lost.end());
    driven_.limit = static_cast<Limit>(most - sum.lost.begin());
    // Units without work while a request waits for another: the map spreads them unevenly.
    const DramStatistics& all = driven_.statistics;
    const std::uint64_t apart = all.most_accesses - all.least_accesses;
    driven_.by_mapping =
        driven_.limit == Limit::queue && driven_.blocked > 0.5 && apart * 20 > all.most_accesses;
    return std::move(driven_);
  }

  Dram& dram_;
  const Drive& drive_;
  Driven driven_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> done_;
  std::optional<StreamWalk> walk_;
  std::optional<Drive::Arrival> arrival_; ///< that has not come yet
  std::uint64_t requests_ = 0, issued_ = 0, forwarded_ = 0;
  std::uint32_t in_flight_ = 0;
  Cycle now_ = 0, begin_ = 0, offered_ = 0, last_ = 0, blocked_ = 0;
  Location where_;
  bool write_ = false, head_ = false, measured_ = false;
  struct Parked {
    Location where;
    std::uint32_t tag;
    bool write;
  };
  std::vector<std::deque<Parked>> waiting_; ///< by unit
  std::uint32_t parked_ = 0;
};

} // namespace

Driven drive(Dram& dram, const Drive& how) {
  return Driver(dram, how).run();
}

} // namespace umf::hw::dram
