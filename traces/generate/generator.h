#pragma once

#include "traces/generate/step_builder.h"

#include <functional>
#include <memory>
#include <string>

namespace umf::traces::generate {

/// A phase of a model over a batch of equal sequences.
struct GenerateOptions {
  StepOptions step;                            ///< what a step may hold is filled in here
  stream::Phase phase = stream::Phase::decode; ///< prefill or decode
  std::uint64_t context = 0;                   ///< tokens of the prompt, or before the first step
  std::uint64_t batch = 1;                     ///< sequences
  std::uint64_t steps = 0;                     ///< of prefill: 0 is all chunks
  std::uint64_t chunk = 0;                     ///< tokens of a sequence in a prefill step; 0: all
  std::string access = "dense";                ///< which pages decode attention reads
  std::string routing = "uniform";             ///< which experts tokens take
  std::vector<std::string> sets;               ///< keys of both, such as "access.budget=1024"
  bool beyond_context = false;                 ///< past the model's longest context
};

/// Decode: `steps` tokens more of each sequence, one a step. Prefill: the prompts, a chunk a step.
/// Each step opens with a mark "step N", from 0. Records come a step at a time; the stream is the
/// same for the same options. Throws UserError for what the model cannot do.
class Generator {
public:
  explicit Generator(GenerateOptions options);
  ~Generator();
  Generator(Generator&&) noexcept;

  std::uint64_t steps() const;
  const StepBuilder& builder() const;
  /// Tensors, before the first step.
  void declare(std::vector<stream::Record>& records) const;
  /// The next step's records; false after the last.
  bool next(std::vector<stream::Record>& records);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace umf::traces::generate
