#include "tests/hw/scheduler/bench.h"

#include "hw/pcie/link.h"
#include "model/base/error.h"

#include <catch2/catch.hpp>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>

/// A target that takes one request at a time: nobody may send it a second before its END_REQ.
namespace umf::test {

namespace {

/// Takes a request after 10 ns, answers 100 ns after that; writes the whole buffer of reads.
struct StrictMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<StrictMemory> socket{"socket"};
  int taken = 0;

  explicit StrictMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &StrictMemory::nb_transport_fw);
    sc_core::sc_spawn([this] { serve(); });
    sc_core::sc_spawn([this] { answer(); });
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    ensure(phase == tlm::BEGIN_REQ && current_ == nullptr, "target: request exclusion rule");
    current_ = &payload;
    payload.acquire();
    asked_.notify();
    return tlm::TLM_ACCEPTED;
  }

private:
  void serve() {
    while (true) {
      if (current_ == nullptr) sc_core::wait(asked_);
      sc_core::wait(10, sc_core::SC_NS);
      tlm::tlm_generic_payload& payload = *current_;
      current_ = nullptr;
      ++taken;
      due_.emplace_back(sc_core::sc_time_stamp() + sc_core::sc_time(100, sc_core::SC_NS), &payload);
      queued_.notify();
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      socket->nb_transport_bw(payload, phase, delay);
    }
  }
  void answer() {
    while (true) {
      if (due_.empty()) sc_core::wait(queued_);
      const auto [when, payload] = due_.front();
      due_.pop_front();
      sc_core::wait(when - sc_core::sc_time_stamp());
      if (payload->is_read())
        std::memset(payload->get_data_ptr(), 0x5a, payload->get_data_length());
      payload->set_response_status(tlm::TLM_OK_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      ensure(socket->nb_transport_bw(*payload, phase, delay) == tlm::TLM_COMPLETED,
             "target: response not taken");
      payload->release();
    }
  }

  tlm::tlm_generic_payload* current_ = nullptr;
  std::deque<std::pair<sc_core::sc_time, tlm::tlm_generic_payload*>> due_;
  sc_core::sc_event asked_, queued_;
};

} // namespace

TEST_CASE("the scheduler keeps requests until the target has taken the one before") {
  Bench bench({}, false);
  StrictMemory hbm("hbm"), cxl("cxl");
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(cxl.socket);
  const auto base = bench.tensor(1, 4);
  bench.at(0_ns, [&] {
    for (std::uint64_t p = 0; p < 4; ++p)
      bench.asker->ask({false, base + p * kPage, kPage});
  });
  bench.run();

  CHECK(cxl.taken == 4);
  for (std::size_t n = 0; n < 4; ++n) { // taken at 10, 20, 30, 40 ns
    CHECK((*bench.asker)[n].phases == "begin end respond");
    CHECK((*bench.asker)[n].answered == 100_ns + 10_ns * static_cast<std::int64_t>(n + 1));
  }
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("a link between them does so too, and counts each byte in and out") {
  Bench bench({}, false);
  StrictMemory hbm("hbm"), cxl("cxl");
  hw::Link::Options options;
  options.name = "link";
  options.raw_bytes_per_second = 64e9;
  options.shape = {.request = 6.4, .completion = 6.4, .write = 6.4}; // 10 % of 64 B
  options.one_way = 50_ns;
  hw::Link link("link", *bench.clock, options);
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(link.in);
  link.out.bind(cxl.socket);
  const auto base = bench.tensor(1, 4);
  bench.at(0_ns, [&] {
    for (std::uint64_t p = 0; p < 3; ++p)
      bench.asker->ask({false, base + p * kPage, kPage});
    bench.asker->ask({true, base + 3 * kPage, kPage, hw::kNoId, hw::Purpose::write_back});
  });
  bench.run();

  CHECK(cxl.taken == 4);
  for (std::size_t n = 0; n < 4; ++n)
    CHECK((*bench.asker)[n].answered == 100_ns + 10_ns * static_cast<std::int64_t>(n + 1));
  CHECK(link.statistics().rx_in == 3 * kPage);
  CHECK(link.statistics().rx_out == 3 * kPage);
  CHECK(link.statistics().tx_in == kPage);
  CHECK(link.statistics().tx_out == kPage);
  CHECK(bench.pool->in_flight() == 0);
}

} // namespace umf::test
