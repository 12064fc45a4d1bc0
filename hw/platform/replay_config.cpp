#include "hw/platform/replay_config.h"

#include <fmt/format.h>

namespace umf::hw {

const Component<ReplayConfig>& replay_component() {
  static const auto keys =
      Component<ReplayConfig>("replay", "How traces are replayed.")
          .key("mode", &ReplayConfig::mode,
               {.help = "When an operation may start, besides its stream's predecessor and its "
                        "synchronisations. closed: at once; open: not before its recorded time; "
                        "hybrid: when a host with the recorded gaps, which waits for this machine "
                        "where it waited for the real one, comes to it.",
                .from = Provenance::derived,
                .source = "the machine alone, without the host's gaps"})
          .key("read_ahead", &ReplayConfig::read_ahead,
               {.help = "Operations read from a trace before their turn; bounds memory.",
                .min = 1,
                .max = 10'000'000,
                .from = Provenance::derived,
                .source = "thousands of queued launches, as drivers allow"})
          .key("repeat", &ReplayConfig::repeat,
               {.help = "Times each trace is replayed, one after the other, with warm state.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "once, as recorded"})
          .key("tenant_gpus", &ReplayConfig::tenant_gpus,
               {.help = "For each trace of the command line, the GPU of its first device; further "
                        "devices take the GPUs behind. Traces without an entry start at GPU 0.",
                .min = 0,
                .max = 63,
                .from = Provenance::derived,
                .source = "tenants share one GPU unless told otherwise"})
          .key("tenant_weights", &ReplayConfig::tenant_weights,
               {.help = "For each trace of the command line, the weight of its bursts and its "
                        "arithmetic where they share a resource. Traces without an entry have 1.",
                .min = 0.001,
                .max = 1000,
                .from = Provenance::derived,
                .source = "equal shares"})
          .key("processes", &ReplayConfig::processes,
               {.help = "How tenants of one GPU came to be. spawn: each loads its weights itself, "
                        "page tables are private, and what lies there twice is reported. fork: one "
                        "loaded them before it forked; weights of equal origin, name, type and "
                        "shape share their pages, and who writes one copies that page first.",
                .from = Provenance::derived,
                .source = "what CUDA offers: its contexts do not survive a fork"})
          .key("clear_cache", &ReplayConfig::clear_cache,
               {.help = "When the host gives cached memory back: repetitions: after each but the "
                        "last. The tenant's buffers of copies die and its GPUs' TLBs are emptied.",
                .from = Provenance::derived,
                .source = "as frameworks do unless told otherwise"})
          .key("clear_cache_cost", &ReplayConfig::clear_cache_cost,
               {.help = "What it takes, once the tenant's operations are done and before the next "
                        "one is issued.",
                .min = Femtoseconds{0},
                .max = 60'000'000'000_ns,
                .from = Provenance::claimed,
                .source = "about 120 ms for all page tables of the processes"});
  return keys;
}

void check_replay(const ReplayConfig& config, std::uint32_t gpus, KeyContext& context) {
  for (std::size_t t = 0; t < config.tenant_gpus.size(); ++t)
    if (config.tenant_gpus[t] >= gpus)
      context.fault(context.place_of("/replay/tenant_gpus"),
                    fmt::format("tenant {} is given GPU {}, and \"gpus\" is {}, expected GPUs "
                                "0..{}",
                                t, config.tenant_gpus[t], gpus, gpus - 1));
}

} // namespace umf::hw
