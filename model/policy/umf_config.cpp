#include "model/policy/umf_config.h"

#include "model/policy/registry.h"

namespace umf::policy {

const Component<UmfConfig>& umf_component() {
  static const auto keys =
      Component<UmfConfig>("policy.umf", "By role and reuse: room in HBM for what lives shortly, a "
                                         "steady rest of the others, background moves by reuse.")
          .key("hbm_reserve_ratio", &UmfConfig::hbm_reserve_ratio, hbm_reserve_key())
          .key("role_priority", &UmfConfig::role_priority,
               {.help = "Who stays in HBM first, by role (weight, kv-key, kv-value, activation, "
                        "expert, lora, workspace, unknown).",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "traffic for a byte held: what lives for a layer is written and read "
                          "within it, weights and KV are read once a step"})
          .key("default_priority", &UmfConfig::default_priority,
               {.help = "The priority of roles that role_priority does not name.",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "below the roles named by default"})
          .key("short_lived_priority", &UmfConfig::short_lived_priority,
               {.help = "Roles of at least this priority count as short-lived: they may use SRAM, "
                        "their peak is kept free in HBM, and they are never moved out of it.",
                .min = 0.0,
                .max = 1000.0,
                .from = Provenance::derived,
                .source = "the priority of activations and workspaces"})
          .key("block", &UmfConfig::block,
               {.help = "What reuse is counted for and what moves at once: an aligned stretch of "
                        "unified addresses; at least a page.",
                .min = 4_KiB,
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "long enough for the link's full rate, short against HBM; as lru's"})
          .key("promote_touches", &UmfConfig::promote_touches,
               {.help = "Passes over a block outside HBM, each within the window of the one "
                        "before, that make it a candidate for promotion.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "umfsim tables --suite break-even: two reads across a Gen5 x16 link cost "
                          "more than one copy; a block read twice has recurred"})
          .key("window", &UmfConfig::window,
               {.help = "The longest time between two passes that still counts as reuse; a "
                        "candidate not used for so long is forgotten.",
                .min = 1_ns,
                .from = Provenance::derived,
                .source = "longer than a step of a large model"})
          .key("demote_watermark", &UmfConfig::demote_watermark,
               {.help = "Share of HBM kept free by demotion, if the peak of what lives shortly "
                        "asks for no more.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "room for a first touch; assumed"})
          .key("promote_margin", &UmfConfig::promote_margin,
               {.help = "Share of HBM that must be free beyond what is kept free before anything "
                        "long-lived is promoted: hysteresis against demoting it again.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "as demote_watermark"})
          .key("swap_ratio", &UmfConfig::swap_ratio,
               {.help = "In a full HBM a candidate replaces a block only if that one is used at "
                        "intervals of more than so many times its own.",
                .min = 1.0,
                .max = 1e6,
                .from = Provenance::derived,
                .source = "a swap moves two blocks, so it should save two reads for one"})
          .key("usual_step", &UmfConfig::usual_step,
               {.help = "An interval that is longer or shorter than what is usual for its role "
                        "moves that up or down by this factor: it comes to rest at the median.",
                .min = 1.0,
                .max = 1e6,
                .from = Provenance::derived,
                .source = "as many steps up as down: half of the intervals lie on either side; a "
                          "tenth follows a rhythm twice as slow within eight blocks"})
          .key("in_flight", &UmfConfig::in_flight,
               {.help = "Background moves ordered and not done.",
                .min = 4_KiB,
                .max = 64_GiB,
                .from = Provenance::derived,
                .source = "scheduler.command_queue × block, both by default"})
          .key("review", &UmfConfig::review,
               {.help = "Moves are decided at most so often, and whenever one is done.",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source = "a few moves of a block over a Gen5 x16 link"})
          .key("patience", &UmfConfig::patience,
               {.help = "A review that orders nothing doubles the time to the next one, up to so "
                        "many times `review`.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "some 10 ms, short against a step that does not fit HBM"})
          .key("spread", &UmfConfig::spread,
               {.help =
                    "S3: what HBM does not hold is spread over pool and host as their ways read, "
                    "in stripes, so that both are read at once; else the host takes what the "
                    "pool cannot.",
                .from = Provenance::derived,
                .source = "studies/long-decode: two links carry more than one"})
          .key("spread_stripes", &UmfConfig::spread_stripes,
               {.help = "What one tensor leaves outside is dealt in so many stripes, or in blocks "
                        "where those are less.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "two ways that read as 5 to 3, or any eighths, end together; a tensor of "
                          "one block is read over both"})
          .key("spread_least", &UmfConfig::spread_least,
               {.help = "The shortest stripe, unless what is left is shorter; at least a page.",
                .min = 4_KiB,
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "takes a Gen5 x16 link some 5 us, several times the latency of a way, "
                          "which each move pays"})
          .key("sram_window", &UmfConfig::sram_window,
               {.help = "S3: so many rows of each tensor of a KV cache (tokens) that were written "
                        "last live in SRAM, as far as what lives shortly leaves room. 0: none.",
                .max = 1'000'000'000,
                .from = Provenance::derived,
                .source =
                    "tables --suite kv-capacity: 48 MiB hold the last 128 tokens of one sequence "
                    "of a 70B model, under 0.1 % of what a step reads"})
          .key("keep_copies", &UmfConfig::keep_copies,
               {.help =
                    "What comes to HBM leaves its old place as a copy (S5: the pool is read, not "
                    "written), so that it goes back without being moved unless it was written or "
                    "the frames were wanted.",
                .from = Provenance::derived,
                .source =
                    "weights, experts and full KV pages are read only; umf-three-tier: the pool "
                    "takes read-only mappings"})
          .key("open_page_home", &UmfConfig::open_page_home,
               {.help = "S5: a page of a KV cache that is being appended to lives in HBM while it "
                        "has frames free, those kept for what lives shortly among them: it is "
                        "placed there or comes home when written, and stays until it is full.",
                .from = Provenance::claimed,
                .source = "umf-three-tier: the open page never lives in the pool, which is read "
                          "only"})
          .key("fetch_on_touch", &UmfConfig::fetch_on_touch,
               {.help =
                    "A block outside that is expected back sooner than the idlest of HBM comes in "
                    "with the access that wants it, which waits for it, instead of being read "
                    "where it is (swap_ratio says by how much sooner).",
                .from = Provenance::derived,
                .source = "it crosses the link either way; a move behind demand never finds a busy "
                          "link free"})
          .key("promotion", &UmfConfig::promotion,
               {.help = "S6, moves home behind demand: off; reuse (blocks that recur); recent (the "
                        "promotion_block used last, when the sensors ask for it); both.",
                .from = Provenance::derived,
                .source =
                    "studies/promotion-threshold: what recurs comes home sooner with an access "
                    "(fetch_on_touch) than by having been used last"})
          .key("promotion_threshold", &UmfConfig::promotion_threshold,
               {.help = "Pages a second above which `recent` promotes.",
                .min = 0.0,
                .max = 1e12,
                .from = Provenance::claimed,
                .source = "umf-three-tier: cxl_promote_threshold, 800; 1100 for long texts"})
          .key("promotion_counts", &UmfConfig::promotion_counts,
               {.help =
                    "Which pages: faults (accesses without a valid mapping, of which this policy "
                    "has none) or remote_reads (accesses to mapped pages outside HBM and SRAM).",
                .from = Provenance::derived,
                .source = "the document counts faults; its pool pages are mapped"})
          .key("promotion_utilisation", &UmfConfig::promotion_utilisation,
               {.help = "Share of HBM's bandwidth in use below which `recent` promotes.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier: below 40 %"})
          .key("promotion_block", &UmfConfig::promotion_block,
               {.help = "What `recent` promotes at once.",
                .min = 4_KiB,
                .max = 64_GiB,
                .from = Provenance::claimed,
                .source = "umf-three-tier: the 16 MB block used last"})
          .key("sensor_window", &UmfConfig::sensor_window,
               {.help = "How long sensors count before they are read.",
                .min = 1000_ns,
                .from = Provenance::derived,
                .source = "some layers of a decode step; assumed"})
          .key("prefetch", &UmfConfig::prefetch,
               {.help = "S4: pages outside come to HBM before they are accessed.",
                .from = Provenance::derived,
                .source = "the mechanism's switch"})
          .key("prefetch_roles", &UmfConfig::prefetch_roles,
               {.help = "Whose tensors are followed.",
                .from = Provenance::derived,
                .source =
                    "what is read from front to back in the same order each step; experts and "
                    "adapters are chosen anew"})
          .key("prefetch_trigger", &UmfConfig::prefetch_trigger,
               {.help = "Consecutive pages of one tensor that missed the L2 before it is followed.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::claimed,
                .source = "umf-three-tier: three consecutive misses into one logical range"})
          .key("prefetch_window", &UmfConfig::prefetch_window,
               {.help = "Rows of a tensor (of a KV cache: tokens) that are brought in ahead of its "
                        "accesses, and of each of those that begin next.",
                .min = 1,
                .max = 1'000'000'000,
                .from = Provenance::claimed,
                .source = "umf-three-tier: prefetch_window 512; 2048 for long texts"})
          .key("prefetch_backoff", &UmfConfig::prefetch_backoff,
               {.help =
                    "A prefetch that is overtaken by the access lets the next ones go, twice as "
                    "many each time up to so many blocks; one that is in time halves that. 0: "
                    "all come.",
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "where demand fills the link a prefetch only fetches twice; 1024 blocks "
                          "are some ms of a Gen5 x16 link"})
          .key("prefetch_hops", &UmfConfig::prefetch_hops,
               {.help = "How many tensors, one beginning after the other, the window reaches over "
                        "beyond the end of the one accessed.",
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "a layer reads a dozen tensors: some layers ahead"})
          .key("prefetch_ranges", &UmfConfig::prefetch_ranges,
               {.help = "Ranges of pages that wait to be prefetched; the one that has waited "
                        "longest goes.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::derived,
                .source = "as many as prefetch_backoff lets go; those that wait longest are "
                          "overtaken first"})
          .key(
              "prefetch_free_bandwidth", &UmfConfig::prefetch_free_bandwidth,
              {.help =
                   "Nothing is prefetched (or only packed, see pack) while less than this share of "
                   "HBM's bandwidth was free in the last sensor window.",
               .min = 0.0,
               .max = 1.0,
               .from = Provenance::claimed,
               .source = "umf-three-tier: more than 30 % free"})
          .key("pack", &UmfConfig::pack,
               {.help = "Which pages of KV caches are quantised to scheduler.packing_bits, which "
                        "loses precision: off; prefetch (S4: those prefetched while HBM's "
                        "bandwidth is scarce: saves HBM, not the link); away (S3: those outside "
                        "HBM: saves the link); both.",
                .from = Provenance::derived,
                .source = "off loses nothing; the umf-three-tier document packs what it "
                          "prefetches while HBM is busy, to INT4"})
          .key("gc", &UmfConfig::gc,
               {.help = "S8: which pages of KV caches are collected from the pool when it runs "
                        "full: off (umf-three-tier: sticky_kv); kv; values (the hybrid: keys "
                        "stay). They go to host memory and have no valid mapping there; where "
                        "there is no host memory nothing is freed.",
                .from = Provenance::derived,
                .source = "studies/gc-trap: what is collected is wanted again"})
          .key("gc_threshold", &UmfConfig::gc_threshold,
               {.help = "Free memory of the pool below which it is collected.",
                .max = Bytes{std::uint64_t{1} << 50},
                .from = Provenance::claimed,
                .source = "umf-three-tier: cxl_gc_threshold, 16 GB; 32 GB against the trap"})
          .key("gc_full", &UmfConfig::gc_full,
               {.help = "A collection goes on until no page is left that nobody has touched; else "
                        "until gc_threshold is free again.",
                .from = Provenance::claimed,
                .source = "umf-three-tier: a full collection"})
          .key("gc_window", &UmfConfig::gc_window,
               {.help = "A page touched within so long before the end of the scan stays.",
                .min = Femtoseconds{0},
                .from = Provenance::claimed,
                .source = "umf-three-tier: the last 10 seconds"})
          .key("gc_pause", &UmfConfig::gc_pause,
               {.help = "From the begin of a scan to that of the next, at least.",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source = "a tenth of gc_window: a page is found at most so much later; assumed"})
          .key("tuner", &UmfConfig::tuner,
               {.help = "S9: a loop sets the reserve and the prefetch window by what sensors "
                        "count. The reserve, at the start hbm_reserve_ratio, is then kept free of "
                        "what lives long all the time.",
                .from = Provenance::derived,
                .source = "studies/tuner says what it costs"})
          .key("tuner_period", &UmfConfig::tuner_period,
               {.help = "Sensors are averaged for so long before the loop looks at them.",
                .min = 1000_ns,
                .from = Provenance::claimed,
                .source = "umf-three-tier: a mean of 10 s, every 1000 tokens; hardware sees no "
                          "tokens"})
          .key("tuner_in_a_row", &UmfConfig::tuner_in_a_row,
               {.help = "Periods in a row on one side of a limit before the reserve moves.",
                .min = 1,
                .max = 1'000'000,
                .from = Provenance::claimed,
                .source = "umf-three-tier: three means"})
          .key("tuner_utilisation", &UmfConfig::tuner_utilisation,
               {.help = "Share of HBM's bandwidth in use above which the reserve goes up.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier: above 85 % as nvidia-smi dmon -s u reads it, which is "
                          "traffic, not occupancy"})
          .key("tuner_idle", &UmfConfig::tuner_idle,
               {.help = "Share of HBM's bandwidth below which the reserve goes down. 0: never, "
                        "and the loop is a ratchet.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "assumed: far below tuner_utilisation; the document has no way down"})
          .key("tuner_reserve_step", &UmfConfig::tuner_reserve_step,
               {.help = "By what share of HBM the reserve moves at once.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier: 0.02"})
          .key("tuner_reserve_min", &UmfConfig::tuner_reserve_min,
               {.help = "The least reserve of the loop, as a share of HBM.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier: hbm_reserve_ratio, 0.15"})
          .key("tuner_reserve_max", &UmfConfig::tuner_reserve_max,
               {.help = "The largest reserve of the loop, as a share of HBM.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::claimed,
                .source = "umf-three-tier: hbm_reserve_ratio for long texts, 0.25"})
          .key("tuner_counts", &UmfConfig::tuner_counts,
               {.help = "What tuner_faults is held against: faults, which this policy has only "
                        "for what gc has collected, or remote_reads.",
                .from = Provenance::claimed,
                .source = "umf-three-tier: page fault rate"})
          .key("tuner_faults", &UmfConfig::tuner_faults,
               {.help = "Pages a second below which it is calm.",
                .min = 0.0,
                .max = 1e12,
                .from = Provenance::claimed,
                .source = "umf-three-tier: below 500 a second"})
          .key("tuner_calm", &UmfConfig::tuner_calm,
               {.help = "Calm for so long sets the prefetch window to tuner_calm_window; a period "
                        "that is not sets it back to prefetch_window.",
                .min = Femtoseconds{0},
                .from = Provenance::claimed,
                .source = "umf-three-tier: 5 minutes; the way back is ours"})
          .key("tuner_calm_window", &UmfConfig::tuner_calm_window,
               {.help = "The prefetch window, in rows, once it has been calm.",
                .min = 1,
                .max = 1'000'000'000,
                .from = Provenance::claimed,
                .source = "umf-three-tier: prefetch_window comes down to 1536 (from 2048)"});
  return keys;
}

} // namespace umf::policy
