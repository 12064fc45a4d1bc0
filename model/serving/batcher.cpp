#include "model/serving/batcher.h"

#include "model/base/error.h"
#include "model/base/random.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace umf::serving {

namespace {
constexpr double kPromptCost = 1, kOutputCost = 2; ///< as the key `fairness` says
}

Batcher::Batcher(const Config& config, std::uint32_t blocks, std::uint32_t max_context,
                 std::uint64_t seed, std::function<void(const Outcome&)> done)
    : config_(config), classes_(config.service_classes()), max_context_(max_context), seed_(seed),
      done_(std::move(done)), blocks_(blocks), waiting_(classes_.size()) {}

std::size_t Batcher::waiting() const {
  std::size_t all = 0;
  for (const auto& queue : waiting_)
    all += queue.size();
  return all;
}

std::uint32_t Batcher::blocks_for(std::uint64_t tokens) const {
  return static_cast<std::uint32_t>((tokens + config_.block - 1) / config_.block);
}

/// Names of the whole blocks of a prompt: the trace's, or one for each part of the trace's.
std::vector<std::uint64_t> Batcher::names_of(const stream::Request& request) const {
  std::vector<std::uint64_t> names;
  if (!config_.prefix_cache) return names;
  const std::uint32_t parts = config_.trace_block / config_.block;
  const std::uint64_t whole = request.prompt_tokens / config_.block;
  for (std::uint64_t b = 0; b < whole && b / parts < request.prefix_blocks.size(); ++b) {
    const std::uint64_t name = request.prefix_blocks[b / parts];
    names.push_back(parts == 1 ? name : mix_bits(mix_bits(name) + b % parts));
  }
  return names;
}

/// The class the trace says, or one drawn by the shares.
std::uint32_t Batcher::class_of(const stream::Request& request) {
  for (std::uint32_t c = 0; c < classes_.size(); ++c)
    if (classes_[c].name == request.service_class) return c;
  double drawn = RandomStream(seed_, "service-class").unit_at(request.id);
  for (std::uint32_t c = 0; c + 1 < classes_.size(); ++c)
    if ((drawn -= classes_[c].share) < 0) return c;
  return static_cast<std::uint32_t>(classes_.size() - 1);
}

void Batcher::set_weights(const std::vector<double>& weights) {
  accounts_.clear();
  for (const double weight : weights) {
    accounts_.emplace_back();
    accounts_.back().weight = weight;
  }
}

void Batcher::charge(std::uint32_t tenant, std::uint64_t tokens, double cost) {
  Account& account = accounts_[tenant];
  account.served += static_cast<double>(tokens) * cost / account.weight;
}

void Batcher::arrive(const stream::Request& request, std::uint32_t tenant) {
  ++counters_.arrived;
  const std::uint64_t tokens = std::uint64_t{request.prompt_tokens} + request.output_tokens;
  if ((max_context_ > 0 && tokens > max_context_) || blocks_for(tokens) > blocks_.blocks()) {
    ++counters_.too_long;
    return;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(sequences_.size()));
    sequences_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Sequence& sequence = sequences_[index] = {};
  Outcome& outcome = sequence.outcome;
  outcome.id = request.id;
  outcome.service_class = class_of(request);
  outcome.tenant = tenant;
  outcome.prompt_tokens = request.prompt_tokens;
  outcome.output_tokens = request.output_tokens;
  outcome.arrival_ns = request.arrival_ns;
  sequence.names = names_of(request);
  sequence.wanted = request.prompt_tokens;
  waiting_[outcome.service_class].push_back(index);
  // Who did not wait has not saved up what it did not ask for.
  if (accounts_[tenant].waiting++ == 0) {
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t t = 0; t < accounts_.size(); ++t)
      if (t != tenant && accounts_[t].waiting > 0) least = std::min(least, accounts_[t].served);
    if (least < std::numeric_limits<double>::infinity())
      accounts_[tenant].served = std::max(accounts_[tenant].served, least);
  }
}

bool Batcher::plan(std::int64_t now_ns, Iteration& iteration) {
  iteration.works.clear();
  iteration.tokens = iteration.prompt_context = 0;
  plan_decodes(iteration);
  const auto budget = [&] {
    return config_.max_batched_tokens -
           std::min<std::uint64_t>(config_.max_batched_tokens, iteration.tokens);
  };
  plan_prefills(iteration, budget());
  admit(now_ns, iteration, budget());
  return !iteration.works.empty();
}

void Batcher::plan_decodes(Iteration& iteration) {
  for (std::size_t r = 0; r < running_.size(); ++r) {
    const std::uint32_t index = running_[r];
    if (sequences_[index].computed < sequences_[index].wanted) continue;
    if (iteration.tokens == config_.max_batched_tokens) return;
    const std::uint32_t needed = blocks_for(std::uint64_t{sequences_[index].computed} + 1);
    while (r < running_.size() && sequences_[index].blocks.size() < needed &&
           !blocks_.extend(1, sequences_[index].blocks))
      preempt_last();
    if (r == running_.size()) return; // it was the last itself
    iteration.works.push_back({index, sequences_[index].computed, 1, true});
    ++iteration.tokens;
  }
}

void Batcher::plan_prefills(Iteration& iteration, std::uint64_t budget) {
  for (std::size_t r = 0; r < running_.size() && budget > 0; ++r)
    if (sequences_[running_[r]].computed < sequences_[running_[r]].wanted &&
        !sees_too_much(iteration, sequences_[running_[r]]))
      add_chunk(running_[r], iteration, budget);
}

/// The first chunk always goes.
bool Batcher::sees_too_much(const Iteration& iteration, const Sequence& sequence) const {
  return max_context_ > 0 && iteration.prompt_context > 0 &&
         iteration.prompt_context + sequence.wanted > max_context_;
}

void Batcher::add_chunk(std::uint32_t index, Iteration& iteration, std::uint64_t& budget) {
  const Sequence& sequence = sequences_[index];
  const auto tokens = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(budget, sequence.wanted - sequence.computed));
  iteration.works.push_back(
      {index, sequence.computed, tokens, sequence.computed + tokens == sequence.wanted});
  iteration.tokens += tokens;
  iteration.prompt_context += sequence.computed + tokens;
  budget -= tokens;
}

/// By the policy of fairness; the queue is not empty.
std::deque<std::uint32_t>::iterator Batcher::next_of(std::deque<std::uint32_t>& queue) {
  if (config_.fairness == Fairness::arrival || accounts_.size() == 1) return queue.begin();
  auto best = queue.begin();
  const auto served = [&](std::uint32_t index) {
    return accounts_[sequences_[index].outcome.tenant].served;
  };
  for (auto at = queue.begin(); at != queue.end(); ++at)
    if (served(*at) < served(*best)) best = at;
  return best;
}

void Batcher::admit(std::int64_t now_ns, Iteration& iteration, std::uint64_t budget) {
  for (auto& queue : waiting_)
    while (!queue.empty()) {
      if (budget == 0 || running_.size() == config_.max_sequences) return;
      const auto next = next_of(queue);
      const std::uint32_t index = *next;
      Sequence& sequence = sequences_[index];
      if (sees_too_much(iteration, sequence) || !take_blocks(sequence)) return; // nobody overtakes
      queue.erase(next);
      --accounts_[sequence.outcome.tenant].waiting;
      sequence.admission = admissions_++;
      if (sequence.outcome.admitted_ns < 0) {
        sequence.outcome.admitted_ns = now_ns;
        sequence.outcome.cached_tokens = sequence.computed;
        counters_.prompt_tokens += sequence.wanted;
        counters_.cached_tokens += sequence.computed;
        charge(sequence.outcome.tenant, sequence.wanted - sequence.computed, kPromptCost);
      } else {
        counters_.recomputed_tokens += sequence.wanted - sequence.computed;
      }
      const auto later = [&](std::uint32_t other) {
        return sequences_[other].outcome.service_class > sequence.outcome.service_class;
      };
      running_.insert(std::find_if(running_.begin(), running_.end(), later), index);
      add_chunk(index, iteration, budget);
    }
}

/// All that its prompt needs, cached blocks first; at least one token is computed, for its
/// answer is the first output.
bool Batcher::take_blocks(Sequence& sequence) {
  const std::size_t most = (sequence.wanted - 1) / config_.block;
  const std::size_t matched = blocks_.match(sequence.names, most, sequence.blocks);
  const std::uint64_t more = blocks_for(sequence.wanted) - matched;
  const auto spare =
      running_.empty()
          ? 0
          : static_cast<std::uint64_t>(config_.watermark * static_cast<double>(blocks_.blocks()));
  if (blocks_.held() + more + spare > blocks_.blocks() || !blocks_.extend(more, sequence.blocks)) {
    blocks_.release(sequence.blocks);
    return false;
  }
  sequence.computed = static_cast<std::uint32_t>(matched) * config_.block;
  sequence.published = static_cast<std::uint32_t>(matched);
  return true;
}

/// What it had computed it computes once more, the tokens it has given included.
void Batcher::preempt_last() {
  const std::uint32_t index = running_.back();
  running_.pop_back();
  Sequence& sequence = sequences_[index];
  blocks_.release(sequence.blocks);
  ++sequence.outcome.preemptions;
  ++counters_.preemptions;
  sequence.wanted = sequence.outcome.prompt_tokens + sequence.given;
  sequence.computed = sequence.published = 0;
  waiting_[sequence.outcome.service_class].push_front(index);
  ++accounts_[sequence.outcome.tenant].waiting;
}

std::uint32_t Batcher::steady(const Iteration& iteration) const {
  std::uint32_t times = config_.fold_steady;
  for (const Work& work : iteration.works) {
    if (!work.decodes()) return 1;
    const Sequence& sequence = sequences_[work.sequence];
    times = std::min(times, sequence.outcome.output_tokens - sequence.given);
  }
  const std::uint64_t more = iteration.works.size() * (1 + times / config_.block);
  if (iteration.works.size() < running_.size() || blocks_.held() + more > blocks_.blocks())
    return 1;
  return std::max(times, 1U);
}

void Batcher::finish(const Iteration& iteration, std::int64_t first_ns, std::uint32_t times,
                     std::int64_t each_ns) {
  counters_.iterations += times;
  counters_.computed_tokens += iteration.tokens * times;
  for (const Work& work : iteration.works)
    advance(work, first_ns, times, each_ns);
}

void Batcher::advance(const Work& work, std::int64_t first_ns, std::uint32_t times,
                      std::int64_t each_ns) {
  Sequence& sequence = sequences_[work.sequence];
  ensure(sequence.computed == work.past, "an iteration was finished that was not planned");
  sequence.computed += work.tokens + (times - 1);
  const std::uint64_t needed = blocks_for(sequence.computed) - sequence.blocks.size();
  if (blocks_for(sequence.computed) > sequence.blocks.size())
    ensure(blocks_.extend(needed, sequence.blocks), "steady iterations ran out of blocks");
  while (sequence.published < sequence.names.size() &&
         (sequence.published + 1) * config_.block <= sequence.computed) {
    blocks_.publish(sequence.blocks[sequence.published], sequence.names[sequence.published]);
    ++sequence.published;
  }
  if (!work.emits) return;
  Outcome& outcome = sequence.outcome;
  if (sequence.given == 0) outcome.first_token_ns = first_ns;
  sequence.given += times;
  charge(outcome.tenant, times, kOutputCost);
  sequence.wanted = std::max(sequence.wanted, sequence.computed);
  if (sequence.given < outcome.output_tokens) return;
  outcome.end_ns = first_ns + (times - 1) * each_ns;
  end(work.sequence);
}

void Batcher::end(std::uint32_t index) {
  Sequence& sequence = sequences_[index];
  blocks_.release(sequence.blocks);
  running_.erase(std::find(running_.begin(), running_.end(), index));
  ++counters_.done;
  done_(sequence.outcome);
  free_.push_back(index);
}

} // namespace umf::serving
