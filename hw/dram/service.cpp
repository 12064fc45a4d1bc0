#include "hw/dram/service.h"

#include "hw/dram/drive.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

namespace umf::hw::dram {

struct Service::Curves {
  DramConfig unit;          ///< one unit of the tier
  std::uint64_t chunk = 0;  ///< consecutive accesses of one unit
  std::uint32_t spread = 1; ///< units that a long run touches before it comes back
  std::map<ServicePoint, double> shares;
};

namespace {

/// Everything the engine reads of a configuration, in words.
std::string key_of(const DramConfig& c) {
  const Organisation& o = c.organisation;
  const Timings& t = c.timings;
  const ControllerConfig& k = c.controller;
  std::string key;
  for (const std::int64_t value :
       std::initializer_list<std::int64_t>{o.ranks,
                                           o.bank_groups,
                                           o.banks,
                                           o.rows,
                                           o.row_bytes,
                                           o.access_bytes,
                                           t.clock.count,
                                           t.burst,
                                           t.tCL,
                                           t.tCWL,
                                           t.tRCDRD,
                                           t.tRCDWR,
                                           t.tRP,
                                           t.tRAS,
                                           t.tRC,
                                           t.tCCDS,
                                           t.tCCDL,
                                           t.tCCDR,
                                           t.tCCDSWR,
                                           t.tCCDLWR,
                                           t.tRRDS,
                                           t.tRRDL,
                                           t.tFAW,
                                           t.tRTP,
                                           t.tWR,
                                           t.tWTRS,
                                           t.tWTRL,
                                           t.tRTW,
                                           t.tRTRS,
                                           t.tPPD,
                                           t.tREFI,
                                           t.tRFCab,
                                           t.tRFCpb,
                                           t.tRREFD,
                                           t.act_clocks,
                                           t.column_clocks,
                                           t.shared_bus,
                                           t.refresh_banks,
                                           k.read_queue,
                                           k.write_queue,
                                           k.write_high,
                                           k.write_low,
                                           k.age_cap.count,
                                           static_cast<int>(k.page),
                                           k.page_timeout.count,
                                           static_cast<int>(k.refresh),
                                           k.postpone,
                                           c.units,
                                           c.stacks,
                                           static_cast<std::int64_t>(k.interleave.count)})
    key.append(std::to_string(value)).append(" ");
  for (const auto* list : {&k.mapping, &k.hash})
    for (const std::string& field : *list)
      key.append(field).append(" ");
  return key;
}

} // namespace

Service::Service(const DramConfig& config) {
  static std::map<std::string, std::shared_ptr<Curves>> known;
  std::shared_ptr<Curves>& curves = known[key_of(config)];
  if (!curves) {
    curves = std::make_shared<Curves>();
    // How the map spreads a run: walk it from the start of the tier.
    const Dram whole(config);
    const std::uint32_t access = whole.access_bytes();
    const std::uint32_t first = whole.locate(0).unit;
    std::uint64_t n = 1;
    const std::uint64_t most = whole.bytes() / access;
    while (n < most && n < 4096 && whole.locate(n * access).unit == first)
      ++n;
    curves->chunk = n;
    curves->spread = whole.units();
    curves->unit = config;
    curves->unit.stacks = curves->unit.units = 1;
    // What is left of the map for one unit: the same fields without the unit's own.
    auto& mapping = curves->unit.controller.mapping;
    std::erase_if(mapping, [](const std::string& field) { return field.starts_with("unit"); });
    std::erase_if(curves->unit.controller.hash,
                  [](const std::string& entry) { return entry.find("unit") != std::string::npos; });
  }
  curves_ = curves;
}

double Service::share(ServicePoint point) const {
  point.run = std::min(std::bit_ceil(std::max(point.run, 1U)), ServicePoint::kLongRun);
  point.streams = std::min(std::bit_ceil(std::max(point.streams, 1U)), 16U);
  const auto [place, missing] = curves_->shares.try_emplace(point, 0.0);
  if (!missing) return place->second;

  Dram unit(curves_->unit);
  Drive how;
  how.traffic.access = {unit.access_bytes()};
  how.traffic.footprint = {std::uint64_t{1} << (63 - std::countl_zero(unit.bytes()))};
  const bool endless = point.run == ServicePoint::kLongRun;
  how.traffic.run =
      endless ? how.traffic.footprint : Bytes{std::uint64_t{point.run} * unit.access_bytes()};
  how.traffic.streams = point.streams;
  how.traffic.period = 8;
  how.traffic.writes = 8 - point.read_eighths;
  // Ten refresh intervals of bus time, the last four of them measured: by then refreshes
  // that may be put off have been, and come one an interval.
  const Timings& t = curves_->unit.timings;
  const std::uint64_t owed = curves_->unit.controller.postpone + 2;
  const std::uint64_t interval =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(t.tREFI / t.burst), 500, 5'000);
  how.requests = (owed + 4) * interval;
  how.warm_up = owed * interval;
  place->second = drive(unit, how).share;
  return place->second;
}

std::array<double, 9> Service::mix() const {
  std::array<double, 9> shares{};
  for (std::uint32_t r = 0; r <= 8; r += 2) {
    const bool mixed = r != 0 && r != 8;
    shares[r] = share({r, ServicePoint::kLongRun, mixed ? 2U : 1U});
  }
  for (std::uint32_t r = 1; r < 8; r += 2) // straight in between
    shares[r] = (shares[r - 1] + shares[r + 1]) / 2;
  return shares;
}

Femtoseconds Service::latency() const {
  const Timings& t = curves_->unit.timings;
  return t.clock * (t.tRCDRD + t.tCL + t.burst);
}

std::uint32_t Service::run_of(std::uint64_t bytes) const {
  const std::uint64_t accesses =
      std::max<std::uint64_t>(1, bytes / curves_->unit.organisation.access_bytes);
  // A run shorter than one round over the units gives each it touches one chunk.
  const std::uint64_t rounds = accesses / (curves_->chunk * curves_->spread);
  const std::uint64_t each =
      rounds >= 1 ? rounds * curves_->chunk : std::min(accesses, curves_->chunk);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(each, ServicePoint::kLongRun));
}

} // namespace umf::hw::dram
