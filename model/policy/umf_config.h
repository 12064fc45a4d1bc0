#pragma once

#include "model/base/keys.h"
#include "model/base/units.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace umf::policy {

/// S6: what brings long-lived blocks home behind demand.
enum class Promotion : std::uint8_t {
  off,
  reuse,  ///< those that recur, into free frames or for one that is used more seldom
  recent, ///< those used last, when sensors ask for it
  both
};

/// What the sensors' threshold is held against.
enum class Counted : std::uint8_t { faults, remote_reads };

/// Which pages of KV caches are packed to fewer bits, with what that loses.
enum class Pack : std::uint8_t {
  off,
  prefetch, ///< S4: those prefetched while HBM's bandwidth is scarce
  away,     ///< S3: those outside HBM
  both
};

/// S8: whose pages are collected from the pool.
enum class Collects : std::uint8_t {
  off,
  kv,    ///< of all KV caches
  values ///< of values alone: keys stay
};

struct UmfConfig {
  double hbm_reserve_ratio = 0.15;
  std::map<std::string, double> role_priority = {
      {"activation", 2.0}, {"workspace", 2.0}, {"unknown", 2.0}};
  double default_priority = 1.0;
  double short_lived_priority = 2.0;
  Bytes block = 2_MiB;
  std::uint32_t promote_touches = 2;
  Femtoseconds window = 1000000000_ns;
  double demote_watermark = 0.02;
  double promote_margin = 0.02;
  double swap_ratio = 2.0;
  double usual_step = 1.1;
  Bytes in_flight = 32_MiB;
  Femtoseconds review = 100000_ns;
  std::uint32_t patience = 128;
  bool spread = true;
  std::uint32_t spread_stripes = 8;
  Bytes spread_least = 256_KiB;
  std::uint64_t sram_window = 0;
  bool keep_copies = true;
  bool open_page_home = true;
  bool fetch_on_touch = true;
  Promotion promotion = Promotion::reuse;
  double promotion_threshold = 800;
  Counted promotion_counts = Counted::remote_reads;
  double promotion_utilisation = 0.4;
  Bytes promotion_block = 16_MiB;
  Femtoseconds sensor_window = 1000000_ns;
  bool prefetch = true;
  std::vector<std::string> prefetch_roles = {"kv-key", "kv-value", "weight"};
  std::uint32_t prefetch_trigger = 3;
  std::uint64_t prefetch_window = 512;
  double prefetch_free_bandwidth = 0.3;
  std::uint32_t prefetch_backoff = 1024;
  std::uint32_t prefetch_hops = 64;
  std::uint32_t prefetch_ranges = 1024;
  Pack pack = Pack::off;
  Collects gc = Collects::off;
  Bytes gc_threshold = 16_GiB;
  bool gc_full = true;
  Femtoseconds gc_window = 10000000000_ns;
  Femtoseconds gc_pause = 1000000000_ns;
  bool tuner = false;
  Femtoseconds tuner_period = 10000000000_ns;
  std::uint32_t tuner_in_a_row = 3;
  double tuner_utilisation = 0.85;
  double tuner_idle = 0.5;
  double tuner_reserve_step = 0.02;
  double tuner_reserve_min = 0.15;
  double tuner_reserve_max = 0.25;
  Counted tuner_counts = Counted::faults;
  double tuner_faults = 500;
  Femtoseconds tuner_calm = 300000000000_ns;
  std::uint64_t tuner_calm_window = 1536;
};

const Component<UmfConfig>& umf_component();

} // namespace umf::policy

template <>
struct umf::EnumNames<umf::policy::Promotion> {
  static constexpr std::pair<std::string_view, umf::policy::Promotion> list[] = {
      {"off", umf::policy::Promotion::off},
      {"reuse", umf::policy::Promotion::reuse},
      {"recent", umf::policy::Promotion::recent},
      {"both", umf::policy::Promotion::both}};
};
template <>
struct umf::EnumNames<umf::policy::Pack> {
  static constexpr std::pair<std::string_view, umf::policy::Pack> list[] = {
      {"off", umf::policy::Pack::off},
      {"prefetch", umf::policy::Pack::prefetch},
      {"away", umf::policy::Pack::away},
      {"both", umf::policy::Pack::both}};
};
template <>
struct umf::EnumNames<umf::policy::Collects> {
  static constexpr std::pair<std::string_view, umf::policy::Collects> list[] = {
      {"off", umf::policy::Collects::off},
      {"kv", umf::policy::Collects::kv},
      {"values", umf::policy::Collects::values}};
};
template <>
struct umf::EnumNames<umf::policy::Counted> {
  static constexpr std::pair<std::string_view, umf::policy::Counted> list[] = {
      {"faults", umf::policy::Counted::faults},
      {"remote_reads", umf::policy::Counted::remote_reads}};
};
