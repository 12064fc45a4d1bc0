#include "tests/hw/scheduler/bench.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <utility>

/// The base protocol as an asker sees it, and a third party's memory in place of a tier.
namespace umf::test {

TEST_CASE("a read goes BEGIN_REQ, END_REQ, BEGIN_RESP, completed, and its payload returns") {
  Bench bench;
  const auto base = bench.tensor(1, 4);
  bench.at(10_ns, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  bench.run();

  const auto& ask = (*bench.asker)[0];
  CHECK(ask.phases == "begin end respond");
  CHECK(ask.taken == 10_ns);
  // 4 pages from the pool: 262144 B at 100 GB/s, then 100 ns.
  CHECK(ask.answered == 10_ns + Femtoseconds{2'621'440'000});
  CHECK(ask.arrives == ask.answered + 100_ns);
  CHECK(bench.pool->in_flight() == 0);
  CHECK(bench.pool->created() == 2); // the asker's and the scheduler's
}

TEST_CASE("a burst over pages of two tiers is answered once, by its slower part") {
  Bench bench;
  const auto base = bench.tensor(1, 4);
  // The first two pages move to HBM while nothing else happens.
  bench.policy->on_touch = [&](const policy::Touch& touch, std::vector<policy::Order>& orders) {
    if (touch.pages.count == 1) orders.push_back({base / kPage, 2, 0});
  };
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.at(1000000_ns, [&] { bench.asker->ask({false, base, 4 * kPage}); });
  bench.run();

  const auto& ask = (*bench.asker)[1];
  CHECK(ask.phases == "begin end respond");
  CHECK(ask.answered == 1000000_ns + Femtoseconds{1'310'720'000}); // two pages at 100 GB/s
  CHECK(bench.hbm->statistics().read_bytes == 2 * kPage);
  CHECK(bench.pool->in_flight() == 0);
}

namespace {

/// A third party's memory: blocking transport only, over its own array, through the library's
/// own adapter, which knows nothing of bursts.
struct ForeignMemory : sc_core::sc_module {
  tlm_utils::simple_target_socket<ForeignMemory> socket{"socket"};
  std::vector<unsigned char> bytes;

  explicit ForeignMemory(sc_core::sc_module_name name) : sc_module(name), bytes(1 << 20, 0xa5) {
    socket.register_b_transport(this, &ForeignMemory::b_transport);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::size_t within = payload.get_address() & (bytes.size() - 1);
    unsigned char* data = payload.get_data_ptr();
    if (payload.is_read())
      std::memcpy(data, &bytes[within], payload.get_data_length());
    else
      std::memcpy(&bytes[within], data, payload.get_data_length());
    delay += sc_core::sc_time(70, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

} // namespace

TEST_CASE("a foreign memory that writes its whole buffer works in place of a tier") {
  Bench bench({}, false);
  ForeignMemory hbm("hbm"), cxl("cxl");
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(cxl.socket);
  const auto base = bench.tensor(1, 8);
  bench.at(10_ns, [&] {
    bench.asker->ask({false, base, 8 * kPage});
    bench.asker->ask({true, base, 2 * kPage, hw::kNoId, hw::Purpose::write_back});
  });
  bench.run();

  for (const std::size_t n : {0u, 1u})
    CHECK((*bench.asker)[n].phases == "begin end respond");
  // The adapter gives no END_REQ of its own: its response to the read stands for it, and the
  // write is sent then.
  CHECK((*bench.asker)[0].answered == 80_ns);
  CHECK((*bench.asker)[1].answered == 150_ns);
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("a foreign memory takes part in moves") {
  Bench bench({}, false);
  ForeignMemory hbm("hbm"), cxl("cxl");
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(cxl.socket);
  const auto base = bench.tensor(1, 2);
  bool ordered = false;
  bench.policy->on_touch = [&](const policy::Touch&, std::vector<policy::Order>& orders) {
    if (!std::exchange(ordered, true)) orders.push_back({base / kPage, 2, 0});
  };
  bench.at(0_ns, [&] { bench.asker->ask({false, base, kPage}); });
  bench.run();

  CHECK(bench.brain->counters().completed == 1);
  CHECK(bench.brain->table().resident(0) == 2);
  CHECK(bench.pool->in_flight() == 0);
}

namespace {

/// Answers within the call, as an untimed memory may.
struct InstantMemory : sc_core::sc_module {
  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  tlm_utils::simple_target_socket<InstantMemory> socket{"socket"};
  explicit InstantMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &InstantMemory::nb_transport_fw);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                     sc_core::sc_time& delay) {
    delay = sc_core::sc_time(5, sc_core::SC_NS);
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }
};

} // namespace

TEST_CASE("a target that completes within the call still gives the asker its END_REQ first") {
  Bench bench({}, false);
  InstantMemory hbm("hbm"), cxl("cxl");
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(cxl.socket);
  const auto base = bench.tensor(1, 2);
  bench.at(10_ns, [&] { bench.asker->ask({false, base, 2 * kPage}); });
  bench.run();
  CHECK((*bench.asker)[0].phases == "begin end respond");
  CHECK((*bench.asker)[0].arrives == 15_ns);
  CHECK(bench.pool->in_flight() == 0);
}

TEST_CASE("a target's error is loud") {
  Bench bench({}, false);
  InstantMemory hbm("hbm"), cxl("cxl");
  cxl.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  bench.unit->ports.bind(hbm.socket);
  bench.unit->ports.bind(cxl.socket);
  const auto base = bench.tensor(1, 2);
  bench.at(10_ns, [&] { bench.asker->ask({false, base, kPage}); });
  CHECK_THROWS_AS(bench.run(), InvariantError);
}

} // namespace umf::test
