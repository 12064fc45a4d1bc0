#pragma once

#include "model/base/units.h"

#include <systemc>
#include <tlm>
#include <tlm_utils/multi_passthrough_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

namespace umf::hw {

/// One request on its way to a line tier.
struct LineRequest {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  bool write = false;
  Femtoseconds not_before{}; ///< 0: as soon as the ones before it have gone
};

/// Where requests come from, in order.
class LineFeed {
public:
  virtual ~LineFeed() = default;
  /// False: there are no more.
  virtual bool next(LineRequest& request) = 0;
};

/// Sends requests in order down one socket, as fast as they are taken: the next waits behind one
/// that finds no room (head-of-line back-pressure). It keeps a local time ahead of the simulation
/// (TLM-2.0 temporal decoupling), by at most the quantum.
class LineSource : public sc_core::sc_module {
public:
  tlm_utils::multi_passthrough_initiator_socket<LineSource> out{"out"};

  struct Options {
    std::uint32_t outstanding = 0; ///< requests without an answer at most; 0: as many as are taken
    Femtoseconds quantum = 30_ns;
  };
  LineSource(sc_core::sc_module_name name, const Options& options);
  ~LineSource() override;

  /// Sends what `feed` gives; sc_start() returns when all of it is answered. May be called again.
  void send(LineFeed& feed);

  std::uint64_t sent() const { return sent_; }
  std::uint64_t answered() const { return answered_; }
  /// When the first request was sent, and when the last answer came.
  Femtoseconds first() const { return {first_}; }
  Femtoseconds last() const { return {last_}; }

private:
  class Pool;
  tlm::tlm_sync_enum nb_transport_bw(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  void pump();
  bool may_send();
  void answered_at(std::int64_t time);

  Options options_;
  LineFeed* feed_ = nullptr;
  LineRequest head_;
  bool has_head_ = false, pumping_ = false, blocked_ = false;
  std::unique_ptr<Pool> pool_;
  std::uint64_t sent_ = 0, answered_ = 0;
  std::int64_t local_ = 0, first_ = -1, last_ = 0;
  std::uint32_t in_flight_ = 0;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> answers_;
  sc_core::sc_event go_;
};

} // namespace umf::hw
