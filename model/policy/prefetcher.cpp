#include "model/policy/prefetcher.h"

#include <algorithm>

namespace umf::policy {

namespace {

/// The window in pages, rounded up.
std::uint64_t pages_of(std::uint64_t rows, const stream::Tensor& tensor, Bytes page) {
  const bool shaped = !tensor.shape.empty() && tensor.shape.front() > 0;
  const double all = shaped ? static_cast<double>(tensor.shape.front()) : 1.0;
  const double bytes =
      std::min(static_cast<double>(rows) / all, 1.0) * static_cast<double>(tensor.bytes.count);
  const auto whole = static_cast<std::uint64_t>(bytes);
  return (whole + page.count - 1) / page.count;
}

} // namespace

void Prefetcher::touched(const Touch& touch, Bytes page) {
  const PageNumber begin = touch.pages.first, end = begin + touch.pages.count;
  drop({begin, end});
  Trail& trail = follow(touch, page);
  trail.run = begin <= trail.next && trail.run > 0 ? trail.run + (end - trail.next) : end - begin;
  trail.next = end;
  if (trail.run < keys_.trigger) return;
  const PageNumber to = std::min(end + trail.window, trail.end);
  ask(trail, std::max(trail.asked, end), to);
  if (const std::uint64_t beyond = trail.window - (to - end); beyond > 0) reach_on(trail, beyond);
}

/// The tensor's trail; an access behind the last one begins a pass.
Prefetcher::Trail& Prefetcher::follow(const Touch& touch, Bytes page) {
  const auto [it, fresh] = trails_.try_emplace(touch.tensor->tensor.id);
  Trail& trail = it->second;
  if (fresh) {
    trail.first = touch.tensor->base / page.count;
    trail.end = trail.first + touch.tensor->pages;
  }
  if (!fresh && touch.pages.first + touch.pages.count > trail.next) return trail;
  trail.window = pages_of(keys_.window, touch.tensor->tensor, page);
  if (last_ && *last_ != it->first)
    if (const auto before = trails_.find(*last_); before != trails_.end())
      before->second.after = it->first;
  last_ = it->first;
  trail.began = ++passes_;
  trail.run = 0;
  if (!trail.ahead) trail.asked = 0;
  trail.ahead = false;
  return trail;
}

void Prefetcher::ask(Trail& trail, PageNumber from, PageNumber to) {
  if (from >= to) return;
  trail.asked = to;
  wanted_.push_back({from, to});
  if (wanted_.size() > keys_.ranges) wanted_.pop_front();
}

/// Along the tensors that begin next, in the order of the last time.
void Prefetcher::reach_on(const Trail& trail, std::uint64_t pages) {
  auto at = trail.after;
  for (std::uint32_t hop = 0; hop < keys_.hops && pages > 0 && at; ++hop) {
    const auto it = trails_.find(*at);
    if (it == trails_.end() || &it->second == &trail) return;
    Trail& next = it->second;
    at = next.after;
    if (next.began > trail.began) continue; // under way
    const PageNumber from = next.ahead ? next.asked : next.first;
    const PageNumber to = std::min({next.first + next.window, next.end, from + pages});
    if (from >= to) continue;
    next.ahead = true;
    pages -= to - from;
    ask(next, from, to);
  }
}

std::optional<memory::Range> Prefetcher::next(std::uint64_t pages) {
  if (wanted_.empty()) return std::nullopt;
  memory::Range& front = wanted_.front();
  const memory::Range taken{front.begin, std::min(front.end, front.begin + pages)};
  front.begin = taken.end;
  if (front.empty()) wanted_.pop_front();
  return taken;
}

/// What is being accessed comes too late.
void Prefetcher::drop(memory::Range pages) {
  if (wanted_.empty()) return;
  std::deque<memory::Range> left;
  for (const memory::Range& range : wanted_) {
    const memory::Range before{range.begin, std::min(range.end, pages.begin)};
    const memory::Range behind{std::max(range.begin, pages.end), range.end};
    if (before.begin < before.end) left.push_back(before);
    if (behind.begin < behind.end) left.push_back(behind);
  }
  wanted_ = std::move(left);
}

void Prefetcher::released(stream::TensorId tensor, memory::Range pages) {
  const auto it = trails_.find(tensor);
  if (it == trails_.end()) return;
  drop(pages);
  Trail& trail = it->second;
  if (pages.begin <= trail.first) trail.first = std::clamp(pages.end, trail.first, trail.end);
}

void Prefetcher::forget(stream::TensorId tensor) {
  const auto it = trails_.find(tensor);
  if (it == trails_.end()) return;
  drop({it->second.first, it->second.end});
  trails_.erase(it);
  if (last_ == tensor) last_.reset();
}

} // namespace umf::policy
