#pragma once

#include "model/scheduler/log.h"
#include "model/scheduler/log_replay.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace umf::test {

/// Reads a log out of memory, so many bytes at a time.
inline scheduler::LogReader reader_of(const std::string& bytes, std::size_t at_a_time = 1 << 20) {
  return {[&bytes, at = std::size_t{0}, at_a_time](char* to, std::size_t most) mutable {
            const std::size_t size = std::min({most, at_a_time, bytes.size() - at});
            std::memcpy(to, bytes.data() + at, size);
            at += size;
            return size;
          },
          "x.log"};
}

inline scheduler::LogWriter::Sink into(std::string& bytes) {
  return [&bytes](std::string_view more) { bytes += more; };
}

inline scheduler::LogResult replayed(const std::string& bytes,
                                     const scheduler::LogReplayOptions& options = {}) {
  scheduler::LogReader reader = reader_of(bytes);
  return replay_log(reader, options);
}

/// A machine with these tiers, all of them in reach of each GPU.
inline scheduler::LogHeader header_of(const policy::Ground& ground,
                                      const std::vector<std::string>& policies,
                                      const scheduler::Coherence& coherence = {}) {
  scheduler::LogHeader header{ground.page, ground.packing, coherence, {}, {}, {}};
  for (const policy::Tier& tier : ground.tiers)
    header.tiers.push_back({tier.name, tier.kind, tier.frames->frames()});
  for (const std::string& policy : policies) {
    header.gpus.push_back({policy, {}});
    for (const policy::Tier& tier : ground.tiers)
      header.gpus.back().tiers.push_back({true, tier.rate});
  }
  return header;
}

} // namespace umf::test
