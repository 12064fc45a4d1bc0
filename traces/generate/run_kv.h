#pragma once

#include "model/base/random.h"
#include "traces/generate/step.h"

#include <vector>

namespace umf::traces::generate {

/// KV caches as whole runs: one tensor a layer, part and sequence, [entry][head][dim], as long as
/// the sequence will get. A window is a ring; or as long, and what leaves it is freed.
class RunKv : public KvCache {
public:
  /// `tokens`: of the longest context. Layers' tensors lie one behind another:
  /// [layer][part][sequence].
  RunKv(const StepOptions& options, std::uint64_t sequences, std::uint64_t tokens,
        Numbers& numbers);

  void declare(std::vector<stream::Record>& records) const;
  std::uint64_t read(const KvAsk& ask, std::vector<stream::Access>& accesses) override;
  void append(const KvAsk& ask, std::vector<stream::Access>& accesses) override;
  void reclaim(const KvAsk& ask, std::vector<stream::Record>& records) override;

protected:
  stream::TensorId tensor(const KvAsk& ask, std::uint32_t sequence) const {
    return first_[ask.layer] +
           static_cast<stream::TensorId>(ask.part_index * sequences_ + sequence);
  }
  Bytes entry(const KvAsk& ask) const { return shapes::entry_bytes(ask.part, format_); }

private:
  void run(const KvAsk& ask, std::uint32_t sequence, Entries entries, bool write,
           std::vector<stream::Access>& accesses) const;
  void choose(const KvAsk& ask, std::uint32_t sequence, std::uint64_t entries,
              std::vector<stream::Access>& accesses);

  shapes::Format format_;
  bool reclaims_;
  std::uint64_t sequences_;
  std::vector<stream::TensorId> first_; ///< of a layer
  std::vector<stream::Tensor> tensors_;
  std::vector<std::uint64_t> freed_; ///< entries of each, where they are freed at all
  RandomStream random_;
};

} // namespace umf::traces::generate
