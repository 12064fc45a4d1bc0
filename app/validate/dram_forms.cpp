#include "app/validate/suites.h"
#include "hw/dram/drive.h"
#include "model/base/error.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

/// What arithmetic says of configurations of DRAM, against the engine.
namespace umf::app {

namespace {

namespace dram = hw::dram;
using dram::RefreshMode;

/// One unit with the timings of a published configuration and the queues and map of this program,
/// so that a form shows and not a simulator's controller; refreshes are not put off. Without a
/// hash, for the forms say which banks rows lie in.
dram::DramConfig configuration(const Published& published, const std::string& name) {
  const auto file =
      std::filesystem::path(published.file).parent_path() / "simulators" / (name + ".json");
  const JsonValue document = read_json_file(file);
  KeyContext context;
  const JsonValue* standard = document.find("standard");
  if (standard == nullptr) throw UserError(document.place(), "no \"standard\", expected one");
  const dram::DramStandard read = dram::read_standard(*standard, context);
  context.throw_if_faulty();
  dram::ControllerConfig config;
  config.postpone = 0;
  config.stagger = false;
  config.hash.emplace();
  dram::DramConfig one = dram::dram_config(read, read.tCK, config, 1);
  one.units = 1;
  return one;
}

/// Nanoseconds of lone reads that take turns at two rows of one bank.
double lone_read(dram::DramConfig config, dram::PagePolicy page) {
  config.controller.refresh = RefreshMode::none;
  config.controller.page = page;
  dram::Dram whole(config);
  const Bytes row{whole.bytes() / config.organisation.rows}; // the row leads an address
  dram::Drive how;
  how.traffic.access = row;
  how.traffic.footprint = how.traffic.run = {2 * row.count};
  how.rate = BytesPerSecond{whole.access_bytes() / 1e-6};
  how.requests = 100;
  how.warm_up = 2;
  const dram::Driven driven = drive(whole, how);
  // The histogram counts whole picoseconds: back to the clocks they were.
  return (config.timings.clock *
          whole.clocks({static_cast<std::int64_t>(driven.media.max()) * 1000}))
      .nanoseconds();
}

double stream_share(dram::DramConfig config) {
  config.controller.refresh = RefreshMode::all_bank;
  config.organisation.ranks = 1; // each rank refreshes by itself
  dram::Dram whole(config);
  dram::Drive how;
  how.traffic.access = {whole.access_bytes()};
  how.traffic.footprint = how.traffic.run = {whole.bytes()};
  how.requests = static_cast<std::uint64_t>(20 * config.timings.tREFI / config.timings.burst);
  return drive(whole, how).share;
}

double random_share(dram::DramConfig config, RefreshMode refresh) {
  config.controller.refresh = refresh;
  config.organisation.ranks = 1; // tFAW is each rank's own
  dram::Dram whole(config);
  dram::Drive how;
  how.traffic.access = how.traffic.run = {whole.access_bytes()};
  how.traffic.footprint = {whole.bytes()};
  how.requests = 200'000;
  return drive(whole, how).share;
}

double played(const dram::DramConfig& config, const std::string& form) {
  if (form == "closed") return lone_read(config, dram::PagePolicy::closed);
  if (form == "conflict") return lone_read(config, dram::PagePolicy::open);
  if (form == "stream") return 100 * stream_share(config);
  if (form == "faw") return 100 * random_share(config, RefreshMode::none);
  return 100 * random_share(config, RefreshMode::all_bank);
}

std::vector<Row> run(const Study& study) {
  std::vector<Row> rows;
  for (const PublishedRow& row : study.published.rows) {
    const std::string configured = row.id.substr(0, row.id.find('/'));
    const std::string form = row.id.substr(std::min(row.id.size(), configured.size() + 1));
    if (form != "closed" && form != "conflict" && form != "stream" && form != "faw" &&
        form != "faw-refresh")
      throw UserError(row.place, fmt::format("no form {}, expected CONFIGURATION/ and closed, "
                                             "conflict, stream, faw or faw-refresh",
                                             in_quotes(row.id)));
    rows.push_back({row.id, row.group, row.what, row.unit, row.value,
                    played(configuration(study.published, configured), form), row.peak});
  }
  return rows;
}

} // namespace

ValidationSuite dram_closed_forms_suite() {
  return {"dram-forms", "latencies and bounds that arithmetic has of a DRAM, against the engine",
          run};
}

} // namespace umf::app
