#include "model/policy/collector.h"

#include "model/base/error.h"

#include <algorithm>
#include <utility>

namespace umf::policy {

void Collector::put(Page& page, std::optional<TierIndex> pool) {
  in_pool_ -= page.in_pool;
  page.in_pool = pool.has_value();
  page.pool = pool.value_or(0);
  in_pool_ += page.in_pool;
}

/// What was freed is asked for.
void Collector::wanted(Page& page, State state) {
  page.state = state;
  ++counters_.regret;
}

bool Collector::has_left(Page& page) {
  if (page.state != State::leaving && page.state != State::touched) return false;
  --leaving_;
  moves_ -= page.head;
  page.head = false;
  return true;
}

void Collector::placed(memory::Range pages, std::optional<TierIndex> pool, bool leaves,
                       Femtoseconds now) {
  ensure(pages.begin >= origin_, "collector: a page below the first of its region");
  if (pages.end - origin_ > pages_.size()) pages_.resize(pages.end - origin_);
  for (PageNumber at = pages.begin; at < pages.end; ++at) {
    Page& page = pages_[at - origin_];
    ensure(page.state == State::none, "collector: a page placed twice");
    page.touched = now;
    page.state = State::mapped;
    page.leaves = leaves;
    put(page, pool);
  }
}

void Collector::removed(memory::Range pages) {
  each(pages, [&](Page& page) {
    put(page, std::nullopt);
    has_left(page);
    page = {};
  });
}

void Collector::touched(memory::Range pages, Femtoseconds now) {
  each(pages, [&](Page& page) {
    if (page.state == State::faulted || page.state == State::coming) return;
    page.touched = now;
    if (page.state == State::leaving) wanted(page, State::touched);
    if (page.state == State::unmapped) wanted(page, State::mapped); // on its way home already
  });
}

void Collector::faulted(memory::Range pages, Femtoseconds now) {
  each(pages, [&](Page& page) {
    if (page.state != State::unmapped) return;
    page.touched = now;
    wanted(page, State::faulted);
    ++counters_.faults;
  });
}

void Collector::coming(memory::Range pages) {
  each(pages, [](Page& page) {
    if (page.state == State::faulted) page.state = State::coming;
  });
}

std::uint64_t Collector::mapped_in_place(memory::Range pages) {
  std::uint64_t ordered = 0;
  each(pages, [&](Page& page) {
    if (page.state != State::faulted && page.state != State::coming) return;
    ordered += page.state == State::coming;
    page.state = State::mapped;
  });
  return ordered;
}

std::uint64_t Collector::settled(memory::Range pages, bool moved, std::optional<TierIndex> pool,
                                 Femtoseconds now) {
  std::uint64_t served = 0;
  bool again = false;
  each(pages, [&](Page& page) {
    const bool left = has_left(page);
    if (!moved) {
      if (page.state == State::touched) --counters_.regret; // it was not freed
      if (left) page.state = State::mapped;
      again = again || left;
      return;
    }
    counters_.freed += left;
    put(page, pool);
    if (page.state == State::coming) {
      ++served;
      counters_.waited += now - page.touched;
    }
    page.state = page.state == State::leaving ? State::unmapped : State::mapped;
  });
  if (again) victims_.push_back({{}, pages});
  return served;
}

std::uint64_t Collector::alike(PageNumber first, std::uint64_t count) const {
  if (first - origin_ >= pages_.size()) return count; // of another region
  const bool as = unmapped(first);
  std::uint64_t pages = 1;
  while (pages < count && unmapped(first + pages) == as)
    ++pages;
  return pages;
}

bool Collector::may_scan(Femtoseconds now) const {
  return !scanning_ && victims_.empty() && in_pool_ > 0 &&
         (!began_ || now - *began_ >= keys_.pause);
}

std::uint64_t Collector::scan(Femtoseconds now) {
  scanning_ = true;
  began_ = now;
  ++counters_.runs;
  return in_pool_;
}

void Collector::scanned(std::uint64_t entries, Femtoseconds now) {
  scanning_ = false;
  until_ = now;
  counters_.scanned += entries;
  for (std::uint64_t at = 0; at < pages_.size(); ++at) {
    const Page& page = pages_[at];
    if (!qualifies(page)) continue;
    const PageNumber number = origin_ + at;
    if (!victims_.empty()) {
      Listed& last = victims_.back();
      if (last.pages.end == number && number % keys_.block != 0 &&
          pages_[at - 1].pool == page.pool) {
        ++last.pages.end;
        last.touched = std::max(last.touched, page.touched);
        continue;
      }
    }
    victims_.push_back({page.touched, {number, number + 1}});
  }
  std::sort(victims_.begin(), victims_.end(), [](const Listed& a, const Listed& b) {
    return std::pair(b.touched, b.pages.begin) < std::pair(a.touched, a.pages.begin);
  });
}

std::optional<Collector::Victims> Collector::next() {
  while (!victims_.empty()) {
    const memory::Range listed = victims_.back().pages;
    victims_.pop_back();
    const auto stays = [&](PageNumber page) {
      return page - origin_ >= pages_.size() || !qualifies(pages_[page - origin_]);
    };
    PageNumber begin = listed.begin;
    while (begin < listed.end && stays(begin))
      ++begin;
    PageNumber end = begin;
    while (end < listed.end && !stays(end) &&
           pages_[end - origin_].pool == pages_[begin - origin_].pool)
      ++end;
    if (begin == end) continue;
    if (end < listed.end) victims_.push_back({{}, {end, listed.end}});
    return Victims{{begin, end}, pages_[begin - origin_].pool};
  }
  return std::nullopt;
}

void Collector::leave(memory::Range pages) {
  each(pages, [&](Page& page) {
    page.state = State::leaving;
    ++leaving_;
  });
  pages_[pages.begin - origin_].head = true;
  ++moves_;
}

} // namespace umf::policy
