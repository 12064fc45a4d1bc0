#include "hw/link/cxl.h"

#include "hw/link/link_keys.h"

namespace umf::hw::link {

const Component<CxlConfig>& cxl_component() {
  constexpr const char* kRoom = "twice the lines in a round trip of Gen5 x16";
  static const auto keys =
      Component<CxlConfig>("line.cxl",
                           "CXL.mem link at line resolution: messages in slots of flits.")
          .key("generation", &CxlConfig::generation, cxl_generation_key())
          .key("width", &CxlConfig::width, cxl_width_key())
          .key("latency", &CxlConfig::latency, cxl_latency_key())
          .key("flit", &CxlConfig::flit, flit_key())
          .key("request_credits", &CxlConfig::request_credits,
               {.help = "Reads (M2S Req) a receiver has room for.",
                .min = 1,
                .max = 65535,
                .from = Provenance::derived,
                .source = kRoom})
          .key("data_credits", &CxlConfig::data_credits,
               {.help = "Messages with a line (M2S RwD, S2M DRS) a receiver has room for.",
                .min = 1,
                .max = 65535,
                .from = Provenance::derived,
                .source = kRoom})
          .key("response_credits", &CxlConfig::response_credits,
               {.help = "Answers to writes (S2M NDR) a receiver has room for.",
                .min = 1,
                .max = 65535,
                .from = Provenance::derived,
                .source = kRoom})
          .key("credit_threshold", &CxlConfig::credit_threshold,
               {.help = "Credits or acknowledgements owed that are sent in a flit of their own "
                        "(LLCRD) when no other goes.",
                .min = 1,
                .max = 64,
                .from = Provenance::standard,
                .source = "CXL 2.0, 4.2.8: 16 suggested"})
          .key("control_wait", &CxlConfig::control_wait,
               {.help = "The longest that fewer than those are held back.",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "a few round trips"})
          .key("retry_flits", &CxlConfig::retry_flits,
               {.help = "Flits sent and not yet acknowledged.",
                .min = 8,
                .max = 4096,
                .from = Provenance::derived,
                .source = "above what Gen5 x16 sends until the acknowledgement is there"})
          .key("bit_error_rate", &CxlConfig::bit_error_rate,
               {.help = "Of flits on the wire; control flits arrive.",
                .min = 0.0,
                .max = 1e-4,
                .from = Provenance::standard,
                .source = "none; the PCIe base specification allows 1e-12"});
  return keys;
}

LinkOptions link_options(const CxlConfig& config, std::string name) {
  LinkOptions options;
  options.name = std::move(name);
  options.rate = WireRate::lanes(config.generation, config.width);
  options.latency = config.latency;
  options.framing = config.flit == FlitSize::b68 ? Framing::flits68 : Framing::flits256;
  options.credits = {Credit{config.data_credits, 0}, Credit{config.request_credits, 0},
                     Credit{config.data_credits, 0}, Credit{config.response_credits, 0}};
  options.ordered = false;
  options.control_bytes = 0;
  options.ack_every = options.update_every = config.credit_threshold;
  options.control_wait = config.control_wait;
  options.replay_buffer =
      std::uint64_t{config.retry_flits} * (config.flit == FlitSize::b68 ? 68 : 256);
  options.bit_error_rate = config.bit_error_rate;
  return options;
}

} // namespace umf::hw::link
