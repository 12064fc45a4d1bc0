#include "hw/scheduler/scheduler_config.h"

#include "model/base/quantity.h"

#include <fmt/format.h>

#include <bit>

namespace umf::hw {

const Component<SchedulerConfig>& scheduler_component() {
  static const auto keys =
      Component<SchedulerConfig>("scheduler", "The memory scheduler unit behind the L2.")
          .key("page", &SchedulerConfig::page,
               {.help = "Page of the unified address space; a power of two.",
                .min = 4_KiB,
                .max = 2_MiB,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: 64 KiB, 4 KiB selectable"})
          .key("tlb_entries", &SchedulerConfig::tlb_entries,
               {.help = "Pages whose translation is held; fully associative, LRU.",
                .min = 1,
                .max = 1'000'000'000,
                .from = Provenance::derived,
                .source = "4096 × 64 KiB = 256 MiB of reach"})
          .key("walk_latency", &SchedulerConfig::walk_latency,
               {.help = "One page-table walk after a TLB miss (boundary: scheduler).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "one dependent read of HBM through the L2, 375 ns, and queueing"})
          .key("walkers", &SchedulerConfig::walkers,
               {.help = "Walks in progress at once.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "assumed; no public figure"})
          .key("lookup_rate", &SchedulerConfig::lookup_rate,
               {.help = "Requests translated a second, all slices together.",
                .min = Hertz{1e6},
                .from = Provenance::derived,
                .source = "80 L2 slices × one lookup a clock of 1.755 GHz"})
          .key("request", &SchedulerConfig::request,
               {.help = "Bytes one lookup serves.",
                .min = Bytes{32},
                .max = Bytes{4096},
                .from = Provenance::standard,
                .source = "CUDA: 128 B cache lines"})
          .key("lookup_latency", &SchedulerConfig::lookup_latency,
               {.help = "Unloaded lookup, both ways, TLB hit (boundary: scheduler).",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::derived,
                .source = "zero: load-to-use latencies of GPUs already include theirs"})
          .key("queue_depth", &SchedulerConfig::queue_depth,
               {.help =
                    "Reads, and as many writes, that may wait for pages in motion before the L2 is "
                    "pushed back.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "assumed; no public figure"})
          .key("command_queue", &SchedulerConfig::command_queue,
               {.help = "Commands in progress at once; more are refused, or wait where a fault "
                        "needs them.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "assumed; no public figure"})
          .key("fault_latency", &SchedulerConfig::fault_latency,
               {.help = "From a batch of faults to the start of its moves: interrupt, handler and "
                        "restart of the waiting accesses. Only policies that fault pay it.",
                .min = Femtoseconds{0},
                .max = 10000000_ns,
                .from = Provenance::claimed,
                .source = "papers on CUDA unified memory say 20 to 45 us a batch; an unverified "
                          "lead says 16-18 us; not measured here"})
          .key("fault_batch", &SchedulerConfig::fault_batch,
               {.help = "Pages of faults handled at once; more wait for the next batch.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::claimed,
                .source = "NVIDIA's open UVM driver: 256 faults a batch by default"})
          .key("max_burst", &SchedulerConfig::max_burst,
               {.help = "Longest run moved as one burst.",
                .min = 4_KiB,
                .max = 64_MiB,
                .from = Provenance::derived,
                .source = "resolution against speed: a decode step of Llama-3-70B at 128 K takes "
                          "0.1 % longer than with bursts of 64 KiB (replay --check-bursts)"})
          .key("move_burst", &SchedulerConfig::move_burst,
               {.help = "What a move has read before it begins to write it; the next so much is "
                        "read meanwhile. No more than max_burst counts.",
                .min = 4_KiB,
                .max = 64_MiB,
                .from = Provenance::derived,
                .source = "assumed: two buffers of a few MiB in the move engine"})
          .key("operation_cost", &SchedulerConfig::operation_cost,
               {.help = "S12: what a host library takes to issue a command or to answer a batch of "
                        "faults, one after the other; 0: the unit on the die decides.",
                .min = Femtoseconds{0},
                .max = 10000000_ns,
                .from = Provenance::derived,
                .source = "a unit on the die; the umf-three-tier document says 12 us for its "
                          "software"})
          .key("operation_batch", &SchedulerConfig::operation_batch,
               {.help = "Commands that wait for the host and are issued at the cost of one.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "one call a command"})
          .key("pool_writes", &SchedulerConfig::pool_writes,
               {.help = "S5, writes to pages of a pool: direct (as to any memory; who reads "
                        "meanwhile may see a torn page, which is counted) or staged (pool pages "
                        "are read only: a write lands in HBM and is copied to its page behind "
                        "the reads of it).",
                .from = Provenance::derived,
                .source = "what GPUs do across PCIe; the umf-three-tier document stages"})
          .key("forward_from_staging", &SchedulerConfig::forward_from_staging,
               {.help = "Pages that were staged whole are read in the staging buffer until they "
                        "are back in the pool; else their reads wait until then.",
                .from = Provenance::derived,
                .source = "the umf-three-tier document suspends reads"})
          .key("staging", &SchedulerConfig::staging,
               {.help = "HBM that staged writes have for themselves: at least a page, at most an "
                        "eighth of it.",
                .min = 4_KiB,
                .max = 64_GiB,
                .from = Provenance::derived,
                .source = "assumed: a few bursts of move_burst"})
          .key("packing_bits", &SchedulerConfig::packing_bits,
               {.help = "Bits of a value in a packed page, to which a policy may have pages of KV "
                        "caches quantised; pages whose values have no more are never packed.",
                .min = 1,
                .max = 16,
                .from = Provenance::claimed,
                .source = "umf-three-tier document: INT4"})
          .key("packing_group", &SchedulerConfig::packing_group,
               {.help = "Values that share a scale and a zero point.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "as published KV quantisation: 32 to 128 values a group"})
          .key("packing_metadata", &SchedulerConfig::packing_metadata,
               {.help = "Bytes of the scale and zero point of a group.",
                .max = 1_KiB,
                .from = Provenance::derived,
                .source = "two halves of 16 bits"})
          .key("packing_rate", &SchedulerConfig::packing_rate,
               {.help = "Plain bytes a second that the engine on the die packs or unpacks.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::derived,
                .source = "assumed: above HBM's rate; the document's \"Tensor Core Lite\" has no "
                          "figure"})
          .key("degrade_below", &SchedulerConfig::degrade_below,
               {.help = "S7: a pool is read only, and what is new goes elsewhere, while the way "
                        "to it carries less than this share of its configured rate; 0: never.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "the umf-three-tier document degrades at Gen4 (200 of 400 GB/s), exactly "
                          "half, where rounding would decide"})
          .key("recover_above", &SchedulerConfig::recover_above,
               {.help = "Share of the configured rate from which on the way counts as good again; "
                        "at least degrade_below.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "assumed: all lanes and the full speed, errors aside"})
          .key("recover_after", &SchedulerConfig::recover_after,
               {.help = "How long it must have been good before the pool is written again.",
                .min = Femtoseconds{0},
                .max = Femtoseconds{1'000'000'000'000'000'000},
                .from = Provenance::derived,
                .source = "assumed: fifty times what a link is down when it retrains"})
          .key("degrade_errors", &SchedulerConfig::degrade_errors,
               {.help = "The same for a link of which so large a share of packets arrives wrong "
                        "and is sent again; 0: never.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "assumed: a million times what the base specification's BER of 1e-12 "
                          "makes of 276 B, 2e-9"})
          .key("weight_region_lock", &SchedulerConfig::weight_region_lock,
               {.help = "Weights, experts and adapters that a kernel has read may not be written "
                        "any more: such a trace ends with an error. Off, they are reloaded while "
                        "they are read.",
                .from = Provenance::derived,
                .source = "traces of training write weights; the umf-three-tier document locks by "
                          "default and unlocks for adapters that change less than 0.3 times a "
                          "second"});
  return keys;
}

void check_scheduler(const SchedulerConfig& config, const std::string& pointer,
                     KeyContext& context) {
  if (!std::has_single_bit(config.page.count))
    context.fault(context.place_of(pointer + "/page"),
                  fmt::format("{} is no power of two, expected a page such as \"64KiB\"",
                              print(config.page)));
  const auto hold_a_page = [&](const char* key, Bytes burst) {
    if (burst < config.page)
      context.fault(context.place_of(pointer + key),
                    fmt::format("{} is shorter than a page of {}, expected at least one page",
                                print(burst), print(config.page)));
  };
  hold_a_page("/max_burst", config.max_burst);
  if (config.recover_above < config.degrade_below)
    context.fault(context.place_of(pointer + "/recover_above"),
                  fmt::format("{} is below degrade_below, expected at least {}",
                              config.recover_above, config.degrade_below));
  hold_a_page("/move_burst", config.move_burst);
}

} // namespace umf::hw
