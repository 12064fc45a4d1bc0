#include "hw/foreign/foreign_tier.h"

#include "model/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace umf::hw {

namespace {

constexpr Bytes kLine{32};

Cause cause_of(StandsFor place) {
  switch (place) {
  case StandsFor::hbm:
    return Cause::hbm_latency;
  case StandsFor::sram:
    return Cause::sram;
  case StandsFor::pool:
    return Cause::cxl_latency;
  case StandsFor::host:
    return Cause::host;
  }
  return Cause::hbm_latency;
}

} // namespace

const Component<ForeignConfig>& foreign_component() {
  static const auto keys =
      Component<ForeignConfig>("tier.foreign", "A third party's TLM-2.0 target in place of a tier.")
          .key("model", &ForeignConfig::model,
               {.help = "Name that the program registered the module under.", .required = true})
          .key("stands_for", &ForeignConfig::stands_for,
               {.help = "The tier it takes the place of: where it lies (hbm and sram on the "
                        "package), what policies see in it, what its time counts as.",
                .from = Provenance::derived,
                .source = "most often replaced"})
          .key("capacity", &ForeignConfig::capacity,
               {.help = "Bytes of it that are used, from address 0 on.",
                .min = 1_MiB,
                .from = Provenance::derived,
                .source = "small, as memories with real storage are"})
          .key("transport", &ForeignConfig::transport,
               {.help = "blocking: b_transport, called from processes that may wait; phases: "
                        "nb_transport, approximately timed.",
                .from = Provenance::standard,
                .source = "IEEE 1666-2011: targets offer b_transport, or the library's socket "
                          "adapts"})
          .key("outstanding", &ForeignConfig::outstanding,
               {.help = "Transactions given to the module at once; more wait.",
                .min = 1,
                .max = 4096,
                .from = Provenance::derived,
                .source = "several kernels of 16 pieces in flight"})
          .key("behind", &ForeignConfig::behind,
               {.help = "Name of the switch or root complex it must hang on; checked against the "
                        "links.",
                .from = Provenance::derived,
                .source = "none: not checked"})
          .key("read_energy", &ForeignConfig::read_energy,
               {.help = "A bit read; TLM-2.0 has no word for what the module itself spends.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::derived,
                .source = "unknown, counted as nothing"})
          .key("write_energy", &ForeignConfig::write_energy,
               {.help = "A bit written, likewise.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::derived,
                .source = "unknown, counted as nothing"});
  return keys;
}

void check_foreign(const ForeignConfig& config, const std::string& pointer, KeyContext& context) {
  if (config.model.empty() || foreign_module(config.model) != nullptr) return;
  const std::vector<std::string> known = foreign_models();
  const std::string expected =
      known.empty() ? "expected a program that registers it (README, bring your own module)"
                    : fmt::format("expected one of {}", fmt::join(known, ", "));
  context.fault(
      context.place_of(pointer + "/model"),
      fmt::format("no foreign module is called {}, {}", in_quotes(config.model), expected));
}

ForeignTier::ForeignTier(sc_core::sc_module_name name, FlowClock& clock,
                         const ForeignConfig& config, std::string tier)
    : MediaTarget(name, clock, kLine, {config.read_energy, config.write_energy}), config_(config),
      tier_(std::move(tier)), cause_(cause_of(config.stands_for)) {
  out_.register_nb_transport_bw(this, &ForeignTier::nb_transport_bw);
  const MakeForeign* make = foreign_module(config.model);
  ensure(make != nullptr, "foreign tier: its module is not registered");
  module_ = (*make)("module", out_);

  sc_core::sc_spawn_options method;
  method.spawn_method();
  method.dont_initialize();
  method.set_sensitivity(&answers_.get_event());
  sc_core::sc_spawn([this] { clock_.guard([this] { take_answers(); }); }, "answers_taken", &method);
  if (config.transport == Transport::phases) return;
  for (std::uint32_t n = 0; n < config.outstanding; ++n)
    sc_core::sc_spawn([this] { serve(); }, sc_core::sc_gen_unique_name("caller"));
}

void ForeignTier::admit(const Payload&, Burst& burst) {
  burst.held_by = cause_;
}

void ForeignTier::begun(std::uint32_t slot, Payload& payload) {
  Transaction& own = transaction(slot);
  own.address = payload.get_address();
  own.began = sim_now();
  slots_[&payload] = slot;
  payload.set_address(own.address % (std::uint64_t{1} << kTierShift));
  if (config_.transport == Transport::blocking) {
    waiting_.push_back(&payload);
    called_.notify(sc_core::SC_ZERO_TIME);
  } else {
    queue_.push_back(&payload);
    pump();
  }
}

/// A process that may wait inside the module, which one that answers by phases need not.
void ForeignTier::serve() {
  while (true) {
    while (waiting_.empty())
      sc_core::wait(called_);
    Payload& payload = *waiting_.front();
    waiting_.pop_front();
    try {
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      out_->b_transport(payload, delay);
      if (delay > sc_core::SC_ZERO_TIME) sc_core::wait(delay);
    } catch (const sc_core::sc_unwind_exception&) {
      throw; // the kernel takes the process down
    } catch (...) {
      return clock_.guard([] { throw; });
    }
    answers_.notify(payload, sc_core::SC_ZERO_TIME);
  }
}

void ForeignTier::pump() {
  if (sending_) return;
  while (!queue_.empty() && in_flight_ < config_.outstanding) {
    Payload& payload = *queue_.front();
    queue_.pop_front();
    ++in_flight_;
    send(payload);
  }
}

void ForeignTier::send(Payload& payload) {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  sending_ = true;
  if (requests_.send(*out_.operator->(), payload, delay)) answers_.notify(payload, delay);
  sending_ = false;
}

tlm::tlm_sync_enum ForeignTier::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
  const tlm::tlm_phase told = phase;
  clock_.guard([&] {
    if (told != tlm::END_REQ && told != tlm::BEGIN_RESP)
      throw UserError(fmt::format("tier {}: foreign module {} gave a phase that the base protocol "
                                  "has not here, expected END_REQ or BEGIN_RESP",
                                  tier_, in_quotes(config_.model)));
    requests_.taken(payload);
    if (told == tlm::BEGIN_RESP) answers_.notify(payload, delay);
    if (sending_) return;
    while (Payload* next = requests_.next())
      send(*next);
  });
  return told == tlm::END_REQ ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
}

void ForeignTier::take_answers() {
  while (Payload* payload = answers_.get_next_transaction())
    finish(*payload);
  // A module may have taken a request within the call that sent it.
  while (Payload* next = requests_.next())
    send(*next);
  pump();
}

void ForeignTier::finish(Payload& payload) {
  const std::uint32_t slot = slots_.at(&payload);
  slots_.erase(&payload);
  Transaction& own = transactions_[slot];
  if (config_.transport == Transport::phases) --in_flight_;
  if (!payload.is_response_ok())
    throw UserError(fmt::format(
        "tier {}: foreign module {} answered {} to a {} of {} B at {:#x}, expected "
        "TLM_OK_RESPONSE",
        tier_, in_quotes(config_.model), payload.get_response_string(),
        payload.is_write() ? "write" : "read", payload.get_data_length(), payload.get_address()));
  payload.set_address(own.address);
  own.took = sim_now() - own.began;
  own.done = true;
  if (own.moved) answer_both(slot);
}

bool ForeignTier::moved(std::uint32_t slot) {
  transaction(slot).moved = true;
  if (transactions_[slot].done) answer_both(slot);
  return false;
}

ForeignTier::Transaction& ForeignTier::transaction(std::uint32_t slot) {
  if (slot >= transactions_.size()) transactions_.resize(slot + 1);
  return transactions_[slot];
}

/// The slot is free again before the asker hears, who may send the next burst at once.
void ForeignTier::answer_both(std::uint32_t slot) {
  const Femtoseconds took = transactions_[slot].took;
  transactions_[slot] = {};
  answer(slot, took);
}

} // namespace umf::hw
