#pragma once

#include "model/base/random.h"
#include "model/serving/config.h"
#include "model/serving/tenants.h"
#include "model/stream/records.h"

#include <cstdint>

namespace umf::traces::requests {

/// Requests with exponential gaps and log-normal lengths, the same for the same seed.
class PoissonSource : public stream::Source {
public:
  PoissonSource(const serving::PoissonConfig& config, std::uint64_t seed);
  /// A tenant's, drawn from streams of its name, with a gap before the first, that arrive within
  /// `time`.
  PoissonSource(const serving::Tenant& tenant, Femtoseconds time, std::uint64_t seed);

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

private:
  RandomStream gaps_, lengths_;
  double rate_ = 1;
  serving::Lengths prompt_, output_;
  std::uint64_t most_ = UINT64_MAX;
  double until_ns_;
  bool waits_ = false; ///< before the first
  std::uint64_t given_ = 0;
  double at_ns_ = 0;
  stream::Header header_;
};

} // namespace umf::traces::requests
