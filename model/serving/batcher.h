#pragma once

#include "model/serving/config.h"
#include "model/serving/kv_blocks.h"
#include "model/serving/outcome.h"
#include "model/stream/records.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace umf::serving {

/// What one sequence does in an iteration: `tokens` computed behind `past` that are cached.
struct Work {
  std::uint32_t sequence = 0; ///< for Batcher::blocks_of
  std::uint32_t past = 0, tokens = 0;
  bool emits = false; ///< gives an output token

  bool decodes() const { return tokens == 1 && emits; }
};

struct Iteration {
  std::vector<Work> works;
  std::uint64_t tokens = 0;
  std::uint64_t prompt_context = 0; ///< past and tokens of the prompts' chunks
};

struct BatchCounters {
  std::uint64_t arrived = 0, done = 0;
  std::uint64_t too_long = 0;    ///< refused: more tokens than the model or the blocks take
  std::uint64_t preemptions = 0; ///< sequences whose blocks were taken and that start again
  std::uint64_t iterations = 0;
  std::uint64_t prompt_tokens = 0;     ///< of requests when they were first admitted
  std::uint64_t cached_tokens = 0;     ///< of them found cached
  std::uint64_t recomputed_tokens = 0; ///< computed once more after a pre-emption
  std::uint64_t computed_tokens = 0;
};

/// Continuous batching with chunked prefill over paged KV cache, as vLLM does it: decoding
/// sequences first, then prompts under way, then new ones, best class first and in order of
/// arrival. A prompt gets all its blocks when it is admitted; a decoding sequence one at a time,
/// and when there is none the last admitted of the lowest class loses its own and starts again.
/// Decides only; time is an argument.
class Batcher {
public:
  /// `max_context`: tokens the model takes; 0: any number. What prompts see in one iteration is
  /// bounded by it, too, together. Outcomes are told in order of end.
  Batcher(const Config& config, std::uint32_t blocks, std::uint32_t max_context, std::uint64_t seed,
          std::function<void(const Outcome&)> done);

  /// By tenant, for Fairness::tokens; before any request. Else there is one.
  void set_weights(const std::vector<double>& weights);
  /// A request has come. In order of arrival.
  void arrive(const stream::Request& request, std::uint32_t tenant = 0);
  /// What runs next; false when nothing can.
  bool plan(std::int64_t now_ns, Iteration& iteration);
  /// For how many iterations, this one included, the same sequences would decode and nothing
  /// could change but an arrival.
  std::uint32_t steady(const Iteration& iteration) const;
  /// The iteration, and the `times` - 1 like it that it stands for, are done: the first at
  /// `first_ns`, each other one `each_ns` later.
  void finish(const Iteration& iteration, std::int64_t first_ns, std::uint32_t times = 1,
              std::int64_t each_ns = 0);

  const std::vector<BlockId>& blocks_of(std::uint32_t sequence) const {
    return sequences_[sequence].blocks;
  }
  bool idle() const { return running_.empty() && waiting() == 0; }
  std::size_t running() const { return running_.size(); }
  std::size_t waiting() const;
  const KvBlocks& blocks() const { return blocks_; }
  const BatchCounters& counters() const { return counters_; }

private:
  struct Sequence {
    Outcome outcome;
    std::vector<std::uint64_t> names; ///< of the whole blocks of its prompt
    std::vector<BlockId> blocks;
    std::uint32_t computed = 0; ///< tokens whose KV is cached
    std::uint32_t wanted = 0;   ///< tokens to compute before it decodes (again)
    std::uint32_t given = 0;    ///< output tokens
    std::uint32_t published = 0;
    std::uint64_t admission = 0;
  };

  /// What a tenant got, for Fairness::tokens.
  struct Account {
    double weight = 1.0;
    double served = 0; ///< tokens by their cost, over the weight
    std::uint64_t waiting = 0;
  };

  void charge(std::uint32_t tenant, std::uint64_t tokens, double cost);
  std::deque<std::uint32_t>::iterator next_of(std::deque<std::uint32_t>& queue);
  std::uint32_t blocks_for(std::uint64_t tokens) const;
  std::vector<std::uint64_t> names_of(const stream::Request& request) const;
  std::uint32_t class_of(const stream::Request& request);
  void plan_decodes(Iteration& iteration);
  void plan_prefills(Iteration& iteration, std::uint64_t budget);
  void admit(std::int64_t now_ns, Iteration& iteration, std::uint64_t budget);
  bool take_blocks(Sequence& sequence);
  bool sees_too_much(const Iteration& iteration, const Sequence& sequence) const;
  void add_chunk(std::uint32_t index, Iteration& iteration, std::uint64_t& budget);
  void preempt_last();
  void advance(const Work& work, std::int64_t first_ns, std::uint32_t times, std::int64_t each_ns);
  void end(std::uint32_t index);

  Config config_;
  std::vector<ServiceClass> classes_;
  std::uint32_t max_context_;
  std::uint64_t seed_;
  std::function<void(const Outcome&)> done_;
  KvBlocks blocks_;
  std::vector<Sequence> sequences_;
  std::vector<std::uint32_t> free_;                ///< of sequences_
  std::vector<std::deque<std::uint32_t>> waiting_; ///< by class
  std::vector<std::uint32_t> running_;             ///< by class, then by admission
  std::uint64_t admissions_ = 0;
  std::vector<Account> accounts_ = std::vector<Account>(1); ///< by tenant
  BatchCounters counters_;
};

} // namespace umf::serving
