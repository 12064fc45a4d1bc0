#include "examples/foreign-tier/simple_memory.h"
#include "hw/foreign/modules.h"
#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>
#include <tlm_utils/peq_with_get.h>

#include <cstring>

/// A third party's TLM-2.0 target in place of a tier.
namespace umf::test {

using hw::Cause;
using F = Figures;
using Catch::Contains;

namespace {

constexpr std::uint64_t kSize = std::uint64_t{1} << 30;
const Bytes kRead = 64_MiB;
constexpr double kPiece = (64 << 20) / F::tiles;

/// Scenarios are read before the module is made, and its times are made with it.
void register_simple_memory(double latency_ns, double bytes_per_second) {
  hw::register_foreign_module("simple", [=](const char* name, tlm::tlm_initiator_socket<>& socket) {
    auto module = std::make_unique<SimpleMemory>(
        name, kSize, sc_core::sc_time(latency_ns, sc_core::SC_NS), bytes_per_second);
    socket.bind(module->socket);
    return module;
  });
}

/// HBM's own keys go, or they would be unknown ones.
std::string foreign_hbm(const std::string& more = "") {
  return R"({"tiers": {"hbm": {"kind": "foreign", "model": "simple", "capacity": "1GiB",
             "bandwidth": null, "read_efficiency": null, "mix_loss": null,
             "media_latency": null)" +
         more + "}}}";
}

/// Approximately timed: takes a request after `kTakes`, answers `kAnswers` later, and sees to
/// it that nobody breaks the base protocol. Writes every byte it is given room for.
struct PhasedMemory : sc_core::sc_module {
  static inline const char* fault = "";
  static inline std::uint64_t bytes = 0, highest = 0;
  static constexpr double kTakes = 20, kAnswers = 300; // ns

  tlm_utils::simple_target_socket<PhasedMemory> socket{"socket"};
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> taken{"taken"}, answered{"answered"};
  const tlm::tlm_generic_payload* untaken = nullptr;

  explicit PhasedMemory(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &PhasedMemory::nb_transport_fw);
    spawn("take", taken.get_event(), [this] { take(); });
    spawn("reply", answered.get_event(), [this] { reply(); });
  }
  template <class Act>
  void spawn(const char* name, const sc_core::sc_event& event, Act act) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    options.dont_initialize();
    options.set_sensitivity(&event);
    sc_core::sc_spawn(act, name, &options);
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time&) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    if (untaken != nullptr) fault = "a second request before END_REQ";
    untaken = &payload;
    payload.acquire();
    if (payload.is_read()) std::memset(payload.get_data_ptr(), 0x5a, payload.get_data_length());
    bytes += payload.get_data_length();
    highest = std::max<std::uint64_t>(highest, payload.get_address() + payload.get_data_length());
    taken.notify(payload, sc_core::sc_time(kTakes, sc_core::SC_NS));
    return tlm::TLM_ACCEPTED;
  }
  void take() {
    while (auto* payload = taken.get_next_transaction()) {
      untaken = nullptr;
      answered.notify(*payload, sc_core::sc_time(kAnswers, sc_core::SC_NS));
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (socket->nb_transport_bw(*payload, phase, delay) != tlm::TLM_ACCEPTED)
        fault = "END_REQ was not accepted";
    }
  }
  void reply() {
    while (auto* payload = answered.get_next_transaction()) {
      const bool inside = payload->get_address() + payload->get_data_length() <= kSize;
      payload->set_response_status(inside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      if (socket->nb_transport_bw(*payload, phase, delay) != tlm::TLM_COMPLETED)
        fault = "BEGIN_RESP was not taken";
      payload->release();
    }
  }
};

void register_phased_memory() {
  hw::register_foreign_module("phased", [](const char* name, tlm::tlm_initiator_socket<>& socket) {
    auto module = std::make_unique<PhasedMemory>(name);
    socket.bind(module->socket);
    return module;
  });
}

} // namespace

TEST_CASE("a foreign memory in place of HBM: each piece takes the module's own time") {
  register_simple_memory(100, 500e9);
  const Outcome run =
      replay(machine(foreign_hbm()), {tensor(1, kRead), kernel(1, {reads(1, kRead)})});

  // A piece of 4 MiB fills the window of 3.1 MiB, so each waits for the answer to the last; the
  // path behind it, L2 hit and miss, is travelled while the next is under way.
  const Femtoseconds piece = time_of(kPiece, 500e9) + 100_ns;
  CHECK(distance(run[0].end, F::start + piece * F::tiles + F::hit + F::miss) <= kRounding);
  CHECK(run.unbalanced() == "");
  CHECK(run.platform->payloads().in_flight() == 0);

  // The L2 has carried a piece after 4 MiB / 4 TB/s; from then on it waits for the module alone.
  const Femtoseconds fabric = time_of(kPiece, F::l2);
  CHECK(distance(run[0].causes.of(Cause::hbm_latency), (piece - fabric) * F::tiles) <= kRounding);
  const auto& tier = run.platform->tiers()[0].module->statistics();
  CHECK(tier.read_bytes == kRead.count);
  const auto& media = tier.latency[static_cast<std::size_t>(hw::Boundary::media)];
  CHECK(static_cast<double>(media.percentile(50)) ==
        Approx(static_cast<double>(piece.count) / 1000).epsilon(0.01));
}

TEST_CASE("simulated time follows the foreign module's latency") {
  register_simple_memory(1100, 500e9); // 1000 ns more than above, 16 times
  const Outcome run =
      replay(machine(foreign_hbm()), {tensor(1, kRead), kernel(1, {reads(1, kRead)})});
  const Femtoseconds piece = time_of(kPiece, 500e9) + 1100_ns;
  CHECK(distance(run[0].end, F::start + piece * F::tiles + F::hit + F::miss) <= kRounding);
}

TEST_CASE("stores, copies and reads of a foreign memory balance the ledger") {
  register_simple_memory(100, 500e9);
  const Bytes n = 32_MiB;
  const Outcome run = replay(machine(both(foreign_hbm(), host_patch())),
                             {tensor(1, n), tensor(2, n), kernel(1, {writes(1, n)}),
                              copy(9, stream::CopyKind::host_to_device, 8_MiB),
                              kernel(2, {reads(1, n), writes(2, n)})});
  CHECK(run.unbalanced() == "");
  CHECK(run.platform->tiers()[0].module->statistics().write_bytes > 0);
  CHECK(run.platform->payloads().in_flight() == 0);
}

TEST_CASE("a foreign pool by phases: a burst is done when both link and module are") {
  register_phased_memory();
  const std::string pool = R"({
    "tiers": {"cxl": {"kind": "foreign", "model": "phased", "stands_for": "pool",
                      "transport": "phases", "capacity": "1GiB"}},
    "links": {"gpu0-cxl": {"kind": "cxl", "from": "gpu0", "to": "cxl", "generation": 5,
                           "width": 16, "one_way_latency": "25ns"}},
    "policy": {"name": "static", "default_hbm_share": 0.0}})";
  const Outcome run = replay(machine(pool), {tensor(1, kRead), kernel(1, {reads(1, kRead)})});

  // 320 ns of the module hide behind 79 µs that the link takes for a piece.
  const double link = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);
  CHECK(distance(run[0].end, F::start + time_of(64 << 20, link) + F::hit + F::miss + 25_ns * 2) <=
        kRounding);
  CHECK(std::string(PhasedMemory::fault) == "");
  CHECK(PhasedMemory::bytes == kRead.count);
  CHECK(PhasedMemory::highest == kRead.count); // addresses are within the tier, from 0
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a module's error ends the run with a message that says who, what and where") {
  // Without threads of its own: sanitizers cannot follow an exception past coroutines.
  register_phased_memory();
  // It has 1 GiB; the scenario says it had 8.
  const std::string patch =
      foreign_hbm(R"(, "model": "phased", "transport": "phases", "capacity": "8GiB")");
  try {
    replay(machine(patch), {tensor(1, 2048_MiB), kernel(1, {reads(1, 2048_MiB)})});
    FAIL("no error");
  } catch (const UserError& error) {
    CHECK_THAT(error.what(), Contains("tier hbm: foreign module \"phased\"") &&
                                 Contains("TLM_ADDRESS_ERROR_RESPONSE") &&
                                 Contains("expected TLM_OK_RESPONSE"));
  }
}

TEST_CASE("a model that nobody registered is refused with those there are") {
  const auto fault = [] {
    try {
      machine(foreign_hbm());
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(fault(), Contains("/tiers/hbm/model: no foreign module is called \"simple\"") &&
                          Contains("expected a program that registers it"));
  register_phased_memory();
  CHECK_THAT(fault(), Contains("expected one of phased"));
}

} // namespace umf::test
