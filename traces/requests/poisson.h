#pragma once

#include "model/serving/config.h"
#include "model/stream/records.h"

#include <cstdint>

namespace umf::traces::requests {

/// Requests with exponential gaps and log-normal lengths, the same for the same seed.
class PoissonSource : public stream::Source {
public:
  PoissonSource(const serving::PoissonConfig& config, std::uint64_t seed);

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

private:
  std::uint32_t length(std::uint32_t mean, double normal) const;

  serving::PoissonConfig config_;
  std::uint64_t seed_, given_ = 0;
  double at_ns_ = 0;
  stream::Header header_;
};

} // namespace umf::traces::requests
