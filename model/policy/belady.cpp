#include "model/policy/future.h"
#include "model/policy/paging.h"

#include <algorithm>
#include <optional>

namespace umf::policy {

namespace {

struct Config : PagingKeys {
  bool bypass = true;
};

const Component<Config>& component() {
  static const auto keys =
      paging_component<Config>("policy.belady",
                               "Yardstick: demand paging that knows the future. What is wanted "
                               "last leaves (Belady's MIN): the fewest fetches there can be.")
          .key("bypass", &Config::bypass,
               {.help = "Whether a block that would be the next to leave stays where it is and is "
                        "read there, once, instead of being fetched.",
                .from = Provenance::derived,
                .source = "MIN with bypass: fewest uses of blocks that are not in HBM; without, "
                          "every such use is a fetch"});
  return keys;
}

/// MIN over blocks in HBM, exclusive, with the faults and fills of `lru`. It makes the fewest
/// fetches, not the least time: fetches are waited for, leaving copies as much again whether the
/// block is clean or not, and nothing comes in ahead.
///
/// The future is what an L2 fed in order of issue asks of memory. Where streams run side by side
/// the order differs from that: a use counts as over once a later operation of its stream was
/// seen, so what is late is waited for and what will not come is not. Without a future it is LRU.
class Belady : public Paging {
public:
  explicit Belady(const Config& config) : Paging(config), bypass_(config.bypass) {}

  bool wants_future() const override { return true; }
  void foresee(std::shared_ptr<const Future> future) override {
    future_ = std::move(future);
    progress_.emplace(*future_);
  }

  void place(const Need& need, const Ground& ground, std::vector<Grant>& grants) override {
    if (const auto* known = future_ ? future_->find(need.tensor->tensor.id) : nullptr)
      each_block(need.tensor->base / ground.page.count + need.first_page, need.pages, ground,
                 [&](std::uint64_t block, PageNumber first, std::uint64_t pages) {
                   const PageNumber base = need.tensor->base / ground.page.count;
                   const auto begin = static_cast<std::uint32_t>(first - base);
                   pieces_[block].push_back({known, need.tensor->tensor.id, begin,
                                             begin + static_cast<std::uint32_t>(pages)});
                 });
    Paging::place(need, ground, grants);
  }

  void touched(const Touch& touch, const Ground& ground, std::vector<Order>& orders) override {
    note(touch, ground);
    Paging::touched(touch, ground, orders);
  }

  bool faults(const Touch& touch, const Ground& ground) override {
    note(touch, ground);
    return Paging::faults(touch, ground) && !passes_by(touch, ground);
  }

  void released(const memory::AddressSpace::Entry& entry, const memory::PageRun& run,
                const Ground& ground) override {
    const std::uint64_t from = run.first - entry.base / ground.page.count;
    each_block(run.first, run.count, ground, [&](std::uint64_t block, PageNumber, std::uint64_t) {
      const auto it = pieces_.find(block);
      if (it == pieces_.end()) return;
      it->second = without(it->second, entry.tensor.id, from, from + run.count);
      if (it->second.empty()) pieces_.erase(it);
    });
    Paging::released(entry, run, ground);
  }

private:
  /// What a block holds of a tensor, in pages of the tensor.
  struct Piece {
    const Future::Tensor* tensor = nullptr;
    stream::TensorId id = 0;
    std::uint32_t first = 0, past = 0;
    std::uint32_t at = 0;      ///< of its uses: those before are over
    StepNumber done = kNoStep; ///< the operation that has had all it wants of it
  };

  /// A tensor may lose pages in its middle and live on.
  static std::vector<Piece> without(const std::vector<Piece>& pieces, stream::TensorId tensor,
                                    std::uint64_t from, std::uint64_t past) {
    std::vector<Piece> left;
    for (const Piece& piece : pieces) {
      if (piece.id != tensor) {
        left.push_back(piece);
        continue;
      }
      const auto within = [&](std::uint64_t page) {
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(page, piece.first, piece.past));
      };
      Piece before = piece, behind = piece;
      before.past = within(from);
      behind.first = within(past);
      if (before.first < before.past) left.push_back(before);
      if (behind.first < behind.past) left.push_back(behind);
    }
    return left;
  }

  bool touches(const Piece& piece, const Future::Use& use) const {
    return use.first < piece.past && piece.first < use.past();
  }

  StepNumber next_use(Piece& piece, StepNumber done) const {
    const auto& uses = piece.tensor->uses;
    while (piece.at < uses.size() &&
           (!touches(piece, uses[piece.at]) || progress_->over(uses[piece.at].step)))
      ++piece.at;
    for (std::size_t i = piece.at; i < uses.size(); ++i)
      if (touches(piece, uses[i]) && uses[i].step != done && !progress_->over(uses[i].step))
        return uses[i].step;
    return kNoStep;
  }

  /// When any of the block is wanted again, beyond what operation `done` wants of it.
  StepNumber next_use(std::uint64_t block, std::optional<StepNumber> done = {}) {
    StepNumber next = kNoStep;
    const auto it = pieces_.find(block);
    if (it == pieces_.end()) return next;
    for (Piece& piece : it->second)
      next = std::min(next, next_use(piece, done.value_or(piece.done)));
    return next;
  }

  std::uint64_t rank(std::uint64_t block) override {
    if (!progress_) return ++uses_;
    return std::uint64_t{kNoStep - next_use(block)} << 32 | (kNoStep - death(block));
  }
  static StepNumber next_of(std::uint64_t rank) {
    return static_cast<StepNumber>(kNoStep - (rank >> 32));
  }

  /// Of two blocks that nobody wants again the one leaves that would stay longer: the other's
  /// frames are free for nothing when it dies.
  StepNumber death(std::uint64_t block) const {
    StepNumber last = 0;
    const auto it = pieces_.find(block);
    if (it == pieces_.end()) return last;
    for (const Piece& piece : it->second)
      last = std::max(last, piece.tensor->dead);
    return last;
  }

  /// An operation has its way with a piece when it has met the last page it wants: it goes through
  /// each tensor in order of address.
  void note(const Touch& touch, const Ground& ground) {
    if (!progress_ || touch.step == kNoStep) return;
    progress_->see(touch.step);
    forget_what_is_over();
    const PageNumber base = touch.tensor->base / ground.page.count;
    each_block(touch.pages.first, touch.pages.count, ground,
               [&](std::uint64_t block, PageNumber first, std::uint64_t pages) {
                 const auto it = pieces_.find(block);
                 if (it == pieces_.end()) return;
                 for (Piece& piece : it->second)
                   if (piece.id == touch.tensor->tensor.id)
                     note(piece, touch.step, first + pages - base);
               });
  }

  void note(Piece& piece, StepNumber step, std::uint64_t seen_to) const {
    next_use(piece, kNoStep); // moves past what is over
    const auto& uses = piece.tensor->uses;
    std::uint64_t last = 0;
    for (std::size_t i = piece.at; i < uses.size() && uses[i].step <= step; ++i)
      if (uses[i].step == step && touches(piece, uses[i]))
        last = std::max<std::uint64_t>(last, std::min(uses[i].past(), piece.past));
    if (last > 0 && seen_to >= last) piece.done = step;
  }

  /// Uses that did not come, such as those the L2 met after all, do not keep a block for ever.
  void forget_what_is_over() {
    while (!order().empty()) {
      const auto [rank, block] = *order().rbegin();
      const StepNumber step = next_of(rank);
      if (step == kNoStep || !progress_->over(step)) return;
      renew(block);
    }
  }

  /// Whether the block would be the next to leave, were it fetched.
  bool passes_by(const Touch& touch, const Ground& ground) {
    if (!bypass_ || !progress_) return false;
    if (ground.free_pages(*ground.index(TierClass::hbm)) >= touch.pages.count) return false;
    StepNumber next = kNoStep;
    each_block(touch.pages.first, touch.pages.count, ground,
               [&](std::uint64_t block, PageNumber, std::uint64_t) {
                 next = std::min(next, next_use(block, touch.step));
               });
    for (const auto& [rank, other] : order())
      if (!leaving(other)) return next >= next_of(rank);
    return false;
  }

  bool bypass_;
  std::shared_ptr<const Future> future_;
  std::optional<Progress> progress_;
  std::map<std::uint64_t, std::vector<Piece>> pieces_; ///< by block, wherever it is
  std::uint64_t uses_ = 0;
};

} // namespace

Kind belady() {
  return {
      &component().info(),
      "Yardstick: demand paging that knows what comes; what is wanted last leaves, which misses "
      "least.",
      [](const JsonValue& object, KeyContext& context) -> std::unique_ptr<Policy> {
        return std::make_unique<Belady>(component().read(object, context, kNameKey));
      }};
}

} // namespace umf::policy
