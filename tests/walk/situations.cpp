#include "tests/walk/situations.h"

namespace umf::test {

namespace {

using Texts = std::vector<std::string>;

// Larger than HBM, and then as if this or that part were not what holds everything back.
const std::string kHbm = "tiers.hbm.capacity=256MiB";
const std::string kFastPool = R"(tiers.cxl.bandwidth={"value":"400GB/s","override":true})";
const Texts kManyLinks = {kHbm, "links.gpu0-sw0.count=16", "links.sw0-cxl.count=16"};

// Half of what the trace "paging" keeps, and an L2 that does not hide its scans.
const std::string kTightHbm = "tiers.hbm.capacity=128MiB";
const std::string kLittleL2 = "gpu.l2.capacity=4MiB";
const std::string kLru = R"(policy={"name":"lru"})";
const std::string kUmf = R"(policy={"name":"umf"})";
const std::string kRecent =
    R"(policy={"name":"umf","promotion":"recent","sensor_window":"1us","promotion_threshold":100})";
const std::string kPacked = R"(policy={"name":"umf","pack":"both","prefetch_free_bandwidth":1})";
// Loops as short as a trace; the pool counts as full, or is half full.
const std::string kLoops =
    R"(policy={"name":"umf","spread":false,"gc":"kv","gc_threshold":"256GiB","gc_window":"10us",)"
    R"("gc_pause":"10us","sensor_window":"10us","tuner":true,"tuner_period":"20us",)"
    R"("tuner_in_a_row":1,"tuner_utilisation":0.01,"tuner_idle":0.005,"tuner_reserve_step":0.1,)"
    R"("tuner_calm":"50us"})";
const std::string kHalfFull =
    R"(policy={"name":"umf","spread":false,"gc":"kv","gc_threshold":"64MiB","gc_window":"10us",)"
    R"("gc_pause":"10us"})";
// Keys of the cache lie outside, and what is written there is staged.
const Texts kStaged = {kLittleL2, R"(policy={"name":"static","hbm_share":{"kv-key":0}})",
                       "scheduler.pool_writes=staged"};
const std::string kHost = "scheduler.operation_cost=3us";
const Texts kMoves = {"/scheduler/queue_depth", "/scheduler/command_queue", "/scheduler/move_burst",
                      "/scheduler/operation_"};

const Texts kLookups = {"/scheduler/tlb", "/scheduler/walk", "/scheduler/lookup",
                        "/scheduler/request"};
const Texts kPool = {"/tiers/cxl/", "/links/gpu0-sw0/", "/links/sw0-cxl/", "/switches/",
                     "/policy/"};

const Texts kPeer = {"/tiers/peer/", "/links/gpu0-peer/"};
const Texts kPeerBanks = {"/tiers/peer/controller/", "/tiers/peer/stacks", "/tiers/peer/standard"};

// The second GPU and what only it uses.
const std::string kOnSecond = "replay.tenant_gpus=[1]";
const Texts kSecond = {"/links/gpu1-"};

const Texts kNoPools = {"a100-80g-sxm", "h100-64g", "h100-pcie", "h100-sxm"};
const Texts kPools = {"umf-small-hbm", "umf-three-tier", "umf-two-gpus"};
std::string trains(const std::string& link) {
  return "links." + link + R"(.training.changes=["1us gen1 x1"])";
}
// At next to nothing, then with one lane less than all; errors for a while.
const std::string kFalls = R"(links.sw0-cxl.training.changes=["1us gen1 x1","20us gen5 x15"])";
const std::string kErrs = R"(links.sw0-cxl.training.changes=["1us errors 1e-3 for 5us"])";
const Texts kDegrade = {"/scheduler/degrade_", "/scheduler/recover_"};
const Texts kNoLinkToPool = {"a100-80g-sxm", "h100-64g", "h100-pcie", "h100-peer", "h100-sxm"};
const char* const kNoFall = "no pool of these has a link that changes";
const char* const kEnds = "what a link joins: another end is another machine";
const char* const kChase = "of pointer chases line by line (validate); tests/hw/gpu/chase_test.cpp";

} // namespace

const std::vector<Situation>& situations() {
  static const std::vector<Situation> list = {
      {{"cache"}, {}, {}},
      {{"streams"}, {}, {}},
      {{"roles"}, {}, {}},
      {{"occupancy"}, {}, {"/gpu/"}},
      {{"arithmetic"}, {}, {"/gpu/launch/", "/gpu/compute/", "/gpu/energy/"}},
      {{"copies"}, {}, {"/gpu/copy_engine/", "/tiers/host/", "/links/gpu0-host/"}},
      {{"sram"}, {}, {"/tiers/sram/"}},
      {{"pages"}, {}, kLookups},
      {{"cache"}, {"scheduler.lookup_rate=10GHz"}, kLookups},
      {{"roles"}, {kHbm}, kPool},
      {{"roles"}, kManyLinks, kPool},
      {{"roles"}, {kHbm, kFastPool}, kPool},
      // Pages that move
      {{"paging"}, {kTightHbm, kLittleL2}, {"/policy/"}},
      {{"paging"}, {"tiers.hbm.capacity=192MiB", kLittleL2}, {"/policy/"}},
      {{"paging"}, {kTightHbm, kLittleL2, kLru}, {"/scheduler/fault_"}},
      {{"paging"}, {kTightHbm, kLittleL2, kLru}, kMoves},
      {{"paging"}, {kTightHbm, kLittleL2, kUmf}, kMoves},
      {{"paging"}, {kTightHbm, kLittleL2, kLru, kHost}, {"/scheduler/operation_"}},
      {{"paging"}, {kTightHbm, kLittleL2, kRecent}, {"/policy/promotion_"}},
      {{"ahead"},
       {"tiers.hbm.capacity=64MiB", kLittleL2, kUmf},
       {"/policy/prefetch", "/policy/sensor_window"}},
      {{"ahead"},
       {"tiers.hbm.capacity=64MiB", kLittleL2, kPacked},
       {"/scheduler/packing_", "/policy/pack"}},
      {{"written"}, kStaged, {"/scheduler/forward_from_staging", "/scheduler/staging"}},
      {{"written"}, {kStaged[0], kStaged[1]}, {"/scheduler/pool_writes"}},
      {{"append"},
       {"tiers.hbm.capacity=64MiB", kLittleL2, kUmf},
       {"/policy/open_page_home", "/policy/sram_window"}},
      {{"paging"},
       {"tiers.hbm.capacity=64MiB", kLittleL2, kLoops},
       {"/policy/gc", "/policy/tuner"}},
      {{"paging"},
       {"tiers.hbm.capacity=64MiB", "tiers.cxl.capacity=256MiB", kLittleL2, kHalfFull},
       {"/policy/gc_full"}},
      // Memory of another GPU
      {{"roles"}, {kHbm}, kPeer},
      {{"roles"}, {kHbm, "links.gpu0-peer.count=1"}, kPeer},
      {{"lines"}, {}, kPeerBanks, false, "peer"},
      {{"lines"}, {"tiers.peer.controller.page=timeout"}, kPeerBanks, false, "peer"},
      {{"lines"}, {"tiers.peer.controller.refresh=all_bank"}, kPeerBanks, false, "peer"},
      // The second GPU
      {{"copies"}, {kOnSecond}, kSecond},
      {{"roles"}, {kOnSecond, kHbm}, kSecond},
      {{"roles"}, {kOnSecond, kHbm, "links.gpu1-sw0.count=16", "links.sw0-cxl.count=16"}, kSecond},
      {{"roles"}, {kOnSecond, kHbm, kFastPool}, kSecond},
      // Links that train down
      {{"roles"}, {kHbm, trains("gpu0-sw0")}, {"/links/gpu0-sw0/training/"}},
      {{"roles"}, {kHbm, trains("sw0-cxl")}, {"/links/sw0-cxl/training/"}},
      {{"roles"}, {kHbm, kFalls}, kDegrade},
      {{"roles"}, {kHbm, kErrs}, kDegrade},
      {{"copies"}, {trains("gpu0-host")}, {"/links/gpu0-host/training/"}},
      {{"roles"}, {kOnSecond, kHbm, trains("gpu1-sw0")}, {"/links/gpu1-sw0/training/"}},
      {{"copies"}, {kOnSecond, trains("gpu1-host")}, {"/links/gpu1-host/training/"}},
      // How traces are replayed
      {{"recorded"}, {}, {"/replay/mode"}},
      {{"streams", "cache"}, {}, {"/replay/tenant_weights"}},
      {{"streams", "cache"}, {"gpus=2"}, {"/replay/tenant_gpus"}},
      {{"roles", "roles"}, {}, {"/replay/processes"}},
      {{"roles"}, {"replay.repeat=2"}, {"/replay/clear_cache"}},
      {{"roles"},
       {"replay.repeat=2", "replay.clear_cache=repetitions"},
       {"/replay/clear_cache_cost"}},
      // Down to the banks
      {{"lines"},
       {},
       {"/tiers/hbm/controller", "/tiers/hbm/stacks", "/tiers/hbm/standard"},
       false,
       "hbm"},
      {{"lines"},
       {"tiers.hbm.controller.page=timeout"},
       {"/tiers/hbm/controller/page"},
       false,
       "hbm"},
      {{"lines"},
       {"tiers.hbm.controller.refresh=all_bank"},
       {"/tiers/hbm/controller/", "/tiers/hbm/standard"},
       false,
       "hbm"},
      {{"lines"}, {}, {"/tiers/cxl/controller/", "/tiers/cxl/queue"}, false, "cxl"},
      {{"lines"},
       {"tiers.cxl.controller.page=timeout"},
       {"/tiers/cxl/controller/page"},
       false,
       "cxl"},
      // What is written down
      {{"streams"}, {"report.window=10ns"}, {"/report/"}, true},
  };
  return list;
}

const std::vector<Exception>& exceptions() {
  static const std::vector<Exception> list = {
      {"/name", {}, "what reports call it"},
      {"/seed", {}, "a replay draws nothing at random"},
      {"/gpu/l1/capacity", {}, kChase},
      {"/gpu/l1/latency", {}, kChase},
      {"/gpu/l1/ways", {}, kChase},
      {"/gpu/l2/ways", {}, kChase},
      {"/scheduler/forward_from_staging", kNoPools, "these have no pool"},
      {"/scheduler/degrade_below", kNoLinkToPool, kNoFall},
      {"/scheduler/recover_above", kNoLinkToPool, kNoFall},
      {"/scheduler/recover_after", kNoLinkToPool, kNoFall},
      {"/scheduler/degrade_errors", kNoLinkToPool, kNoFall},
      {"/scheduler/weight_region_lock",
       {},
       "refuses a trace; tests/hw/platform/coherence_test.cpp"},
      {"/tiers/cxl/behind", kPools, "says what is checked against the links"},
      {"/links/gpu0-host/from", {}, kEnds},
      {"/links/gpu0-host/to", {}, kEnds},
      {"/links/gpu0-sw0/from", kPools, kEnds},
      {"/links/gpu0-sw0/to", kPools, kEnds},
      {"/links/sw0-cxl/from", kPools, kEnds},
      {"/links/sw0-cxl/to", kPools, kEnds},
      {"/links/gpu0-peer/from", {}, kEnds},
      {"/links/gpu0-peer/to", {}, kEnds},
      {"/links/gpu1-host/from", {}, kEnds},
      {"/links/gpu1-host/to", {}, kEnds},
      {"/links/gpu1-sw0/from", {}, kEnds},
      {"/links/gpu1-sw0/to", {}, kEnds},
  };
  return list;
}

} // namespace umf::test
