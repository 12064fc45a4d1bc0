#pragma once

#include "model/base/units.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace umf::policy {

/// Blocks of a memory by when they were used last and by when they are expected back, lowest
/// priority first: who leaves it, in logarithmic time.
class LeavingOrder {
public:
  static constexpr Femtoseconds kNever{std::numeric_limits<std::int64_t>::max()};
  static constexpr Femtoseconds kNow{std::numeric_limits<std::int64_t>::min()};
  struct Entry {
    double priority = 0;
    Femtoseconds used{}; ///< last
    Femtoseconds back{}; ///< expected; kNever: it has not recurred, kNow: its turn is to come
    bool idles = true;   ///< counts as unused since `used`; else nothing is known of its turns
    bool operator==(const Entry&) const = default;
  };

  /// Puts it where it belongs now.
  void set(std::uint64_t number, const Entry& entry) {
    const auto [it, fresh] = entries_.try_emplace(number, entry);
    if (!fresh) {
      if (it->second == entry) return;
      take_out(number, it->second);
      it->second = entry;
    }
    Lists& lists = lists_[entry.priority];
    lists.back.insert({entry.back, entry.used, number});
    if (entry.idles) lists.idle.insert({entry.used, number});
  }
  void erase(std::uint64_t number) {
    const auto it = entries_.find(number);
    if (it == entries_.end()) return;
    take_out(number, it->second);
    entries_.erase(it);
  }

  /// Calls visit(number, entry), the one unused for longest first, until it says false.
  template <class Visit>
  void each_idle(Visit visit) const {
    for (const auto& [priority, lists] : lists_)
      for (const auto& [used, number] : lists.idle)
        if (!visit(number, entries_.at(number))) return;
  }

  /// Calls visit(number), the one farthest from its next use first, until it says false; perhaps
  /// twice with the same. Who is overdue is taken to stay away for as long as it has.
  template <class Visit>
  void each_farthest(Femtoseconds now, Visit visit) const {
    for (const auto& of_priority : lists_) { // clang 14 captures no binding
      const Lists& lists = of_priority.second;
      auto idle = lists.idle.begin();
      const auto overdue_beyond = [&](Femtoseconds distance) {
        for (; idle != lists.idle.end() && now - idle->first > distance; ++idle)
          if (entries_.at(idle->second).back < now && !visit(idle->second)) return false;
        return true;
      };
      for (auto it = lists.back.rbegin(); it != lists.back.rend(); ++it) {
        const auto& [expected, used, number] = *it;
        if (!overdue_beyond(expected < now ? Femtoseconds{-1} : expected - now)) return;
        if ((expected >= now || expected == kNow) && !visit(number)) return;
      }
    }
  }

private:
  struct Lists {
    std::set<std::pair<Femtoseconds, std::uint64_t>> idle;                ///< used last
    std::set<std::tuple<Femtoseconds, Femtoseconds, std::uint64_t>> back; ///< expected, used last
  };
  void take_out(std::uint64_t number, const Entry& entry) {
    Lists& lists = lists_[entry.priority];
    lists.back.erase({entry.back, entry.used, number});
    if (entry.idles) lists.idle.erase({entry.used, number});
  }

  std::map<double, Lists> lists_;
  std::unordered_map<std::uint64_t, Entry> entries_;
};

/// Distinct blocks by when they were used last.
class RecentOrder {
public:
  void use(std::uint64_t number) {
    const auto [it, fresh] = serials_.try_emplace(number, next_);
    if (!fresh) order_.erase(std::exchange(it->second, next_));
    order_.emplace(next_++, number);
  }
  /// Only so many, those used last.
  void keep(std::size_t blocks) {
    for (; order_.size() > blocks; order_.erase(order_.begin()))
      serials_.erase(order_.begin()->second);
  }
  /// Calls visit(number), the one used longest ago first.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& used : order_)
      visit(used.second);
  }

private:
  std::map<std::uint64_t, std::uint64_t> order_; ///< block by serial
  std::unordered_map<std::uint64_t, std::uint64_t> serials_;
  std::uint64_t next_ = 0;
};

/// Blocks outside a memory that recur, the one worth most in it first: of the highest priority, of
/// those the one used at the shortest intervals, of those the one wanted next.
class ComingOrder {
public:
  struct Worth {
    double priority = 0;
    Femtoseconds interval{}, back{};
  };

  void set(std::uint64_t number, const Worth& worth) {
    erase(number);
    const Key key{-worth.priority, worth.interval, worth.back, number};
    order_.insert(key);
    keys_.emplace(number, key);
  }
  void erase(std::uint64_t number) {
    const auto it = keys_.find(number);
    if (it == keys_.end()) return;
    order_.erase(it->second);
    keys_.erase(it);
  }
  bool empty() const { return order_.empty(); }

  /// Calls visit(number) until it says false.
  template <class Visit>
  void each(Visit visit) const {
    for (const Key& key : order_)
      if (!visit(std::get<3>(key))) return;
  }

private:
  using Key = std::tuple<double, Femtoseconds, Femtoseconds, std::uint64_t>;
  std::set<Key> order_;
  std::unordered_map<std::uint64_t, Key> keys_;
};

} // namespace umf::policy
