#include "hw/link/pcie.h"

#include "hw/link/generation.h"
#include "hw/link/link_keys.h"

namespace umf::hw::link {

namespace {

const Component<PcieCreditConfig>& credit_component() {
  static const auto keys = [] {
    Component<PcieCreditConfig> all("credits", "Room a receiver advertises; 0: endless.");
    const auto add = [&](const char* name, std::uint32_t PcieCreditConfig::*member,
                         const char* help) {
      all.key(name, member,
              {.help = help,
               .max = 65535,
               .from = Provenance::derived,
               .source = "16 KiB of data, twice what a round trip of Gen5 x16 holds"});
    };
    add("posted_headers", &PcieCreditConfig::posted_headers, "Posted TLPs.");
    add("posted_data", &PcieCreditConfig::posted_data, "Their data, in units of 16 B.");
    add("request_headers", &PcieCreditConfig::request_headers, "Non-posted TLPs.");
    add("completion_headers", &PcieCreditConfig::completion_headers, "Completions.");
    add("completion_data", &PcieCreditConfig::completion_data, "Their data, in units of 16 B.");
    return all;
  }();
  return keys;
}

Femtoseconds lane_time(std::uint32_t number, double bits) {
  return {static_cast<std::int64_t>(bits * 1e9 /
                                    static_cast<double>(generation(number).megatransfers))};
}

} // namespace

const Component<PcieConfig>& pcie_component() {
  static const auto keys =
      Component<PcieConfig>("line.pcie", "PCIe link at line resolution: TLPs, DLLPs, credits.")
          .key("generation", &PcieConfig::generation, generation_key())
          .key("width", &PcieConfig::width, width_key())
          .key("latency", &PcieConfig::latency, pcie_latency_key())
          .key("request_overhead", &PcieConfig::request_overhead, request_overhead_key())
          .key("completion_overhead", &PcieConfig::completion_overhead, completion_overhead_key())
          .group("credits", &PcieConfig::credits, credit_component())
          .key("ack_every", &PcieConfig::ack_every, ack_every_key())
          .key("update_every", &PcieConfig::update_every, update_every_key())
          .key("control_wait", &PcieConfig::control_wait,
               {.help = "The longest that an ACK or UpdateFC is held back for others.",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "AckNak latency limit of Gen4 x16, 256 B: some 170 symbol times"})
          .key("replay_buffer", &PcieConfig::replay_buffer,
               {.help = "Bytes sent and not yet acknowledged.",
                .min = Bytes{512},
                .max = 1_MiB,
                .from = Provenance::derived,
                .source = "twice what Gen5 x16 sends until the ACK is there"})
          .key("bit_error_rate", &PcieConfig::bit_error_rate,
               {.help = "Of TLPs on the wire; DLLPs arrive.",
                .min = 0.0,
                .max = 1e-4,
                .from = Provenance::standard,
                .source = "none; the base specification allows 1e-12"})
          .key("skip_interval", &PcieConfig::skip_interval, skip_interval_key())
          .key("sleep_after", &PcieConfig::sleep_after,
               {.help = "ASPM L1 after so long without traffic; 0: never.",
                .min = Femtoseconds{0},
                .max = Femtoseconds{1'000'000'000'000'000},
                .from = Provenance::derived,
                .source = "servers switch ASPM off"})
          .key("wake_time", &PcieConfig::wake_time,
               {.help = "Exit from L1.",
                .min = Femtoseconds{0},
                .max = Femtoseconds{1'000'000'000'000},
                .from = Provenance::standard,
                .source = "PCIe base specification, L1 exit latency field: 8 to 16 µs"})
          .key("recovery", &PcieConfig::recovery, recovery_key())
          .key("errors_to_degrade", &PcieConfig::errors_to_degrade,
               {.help = "Errors within error_window that train the link down; 0: never.",
                .max = 1000000,
                .from = Provenance::derived,
                .source = "never"})
          .key("error_window", &PcieConfig::error_window,
               {.help = "In which they are counted.",
                .min = Femtoseconds{0},
                .max = Femtoseconds{1'000'000'000'000'000},
                .from = Provenance::derived,
                .source = "a millisecond"})
          .key("degraded_generation", &PcieConfig::degraded_generation,
               {.help = "Generation after training down by errors, at most its own.",
                .min = 1,
                .max = 6,
                .from = Provenance::standard,
                .source = "PCIe base specification: every link can run at 2.5 GT/s"})
          .key("degraded_width", &PcieConfig::degraded_width,
               {.help = "Lanes then; none: all.",
                .min = 1,
                .max = 32,
                .from = Provenance::derived,
                .source = "none: lanes are kept"})
          .key("degraded_for", &PcieConfig::degraded_for,
               {.help = "Back to full speed and width after so long; 0: never.",
                .min = Femtoseconds{0},
                .max = Femtoseconds{1'000'000'000'000'000},
                .from = Provenance::derived,
                .source = "never"});
  return keys;
}

LinkOptions link_options(const PcieConfig& config, std::string name) {
  const bool flits = config.generation >= 6;
  LinkOptions options;
  options.name = std::move(name);
  options.rate = WireRate::pcie(config.generation, config.width);
  options.latency = config.latency;
  const std::uint32_t of_flit = flits ? 8 : 0;
  const auto request = static_cast<std::uint32_t>(config.request_overhead.count) - of_flit;
  const auto completion = static_cast<std::uint32_t>(config.completion_overhead.count) - of_flit;
  options.overhead = {request, request, completion, completion};
  const PcieCreditConfig& c = config.credits;
  options.credits = {Credit{c.posted_headers, c.posted_data}, Credit{c.request_headers, 0},
                     Credit{c.completion_headers, c.completion_data}, Credit{}};
  options.control_bytes = flits ? 0 : 8; // flits have room for both
  options.ack_every = config.ack_every;
  options.update_every = config.update_every;
  options.control_wait = config.control_wait;
  options.replay_buffer = config.replay_buffer.count;
  options.bit_error_rate = config.bit_error_rate;
  if (config.skip_interval > 0) {
    const std::uint32_t g = config.generation;
    options.skip_interval =
        g <= 2 ? lane_time(g, 1538 * 10) : lane_time(g, 130.0 * config.skip_interval);
    options.skip_time = g <= 2 ? lane_time(g, 4 * 10) : lane_time(g, 130.0);
  }
  options.idle_before_sleep = config.sleep_after;
  options.wake_time = config.wake_time;
  options.recovery = config.recovery;
  options.errors_to_degrade = config.errors_to_degrade;
  options.error_window = config.error_window;
  options.degraded =
      WireRate::pcie(std::min(config.degraded_generation, config.generation),
                     std::min(config.degraded_width.value_or(config.width), config.width));
  options.degraded_for = config.degraded_for;
  return options;
}

} // namespace umf::hw::link
