#include "app/tables/directed.h"
#include "app/tables/memories.h"
#include "hw/dram/media.h"
#include "model/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

/// Every timing of every DRAM standard, seen from outside.
namespace umf::app {

namespace {

namespace dram = hw::dram;

using StandardPointer = std::shared_ptr<const dram::DramStandard>;

/// Those shipped, and those that the scenario's section `dram` adds, as it changes them.
std::vector<StandardPointer> standards_of(const TableOptions& options) {
  const JsonValue document = load_scenario(options.scenario, options.sets);
  hw::read_scenario(document); // everything else in it is checked too
  dram::Standards standards;
  KeyContext context;
  std::vector<std::string> names;
  for (const dram::EmbeddedStandard& shipped : dram::shipped_standards())
    names.emplace_back(shipped.name);
  if (const JsonValue* section = document.find("dram")) {
    standards = dram::Standards(*section, context);
    for (const auto& member : section->members())
      if (std::find(names.begin(), names.end(), member.name) == names.end())
        names.push_back(member.name);
  }
  std::vector<StandardPointer> all;
  all.reserve(names.size());
  for (const std::string& name : names)
    all.push_back(standards.find(name, "/dram/" + name, context));
  context.throw_if_faulty();
  return all;
}

/// Names of the timings that move the row when each alone is a fifth longer.
std::string movers(const Directed& directed, const dram::Timings& timings,
                   const dram::Organisation& organisation, dram::Cycle before) {
  std::string names;
  for (const NamedTiming& timing : named_timings()) {
    dram::Timings longer = timings;
    timing.grow(longer, organisation);
    if (clocks_of(directed, longer, organisation) != before)
      names += fmt::format("{}{}", names.empty() ? "" : " ", timing.name);
  }
  return names;
}

Table timings_table(const TableOptions& options) {
  Table table;
  table.title =
      "What does each timing of each DRAM standard do?\n"
      "A few accesses to one unit at the standard's fastest clock; time from one command to "
      "another (boundary:\nthe unit's pins), two ranks. shows: the timings that the row is there "
      "for; moved by: those that move it when\neach alone is a fifth longer (shared_bus and "
      "refresh_banks: the other way), the others hide behind these.";
  table.columns = {key("standard", "standard"), key("row", "row"),
                   figure("time_ns", "time ns", "ns"), text("shows", "shows"),
                   text("moved_by", "moved by")};
  for (const StandardPointer& standard : standards_of(options)) {
    const dram::Timings timings = dram::timings(*standard, standard->tCK);
    const dram::Organisation organisation = dram::organisation(*standard);
    for (const Directed& directed : directed_experiments()) {
      const dram::Cycle clocks = clocks_of(directed, timings, organisation);
      table.rows.push_back({cell(standard->name), cell(directed.name),
                            nanoseconds(timings.clock * clocks), cell(directed.shows),
                            cell(movers(directed, timings, organisation, clocks))});
    }
  }
  return table;
}

} // namespace

Suite timings_suite() {
  return {"timings", "what each timing of each DRAM standard does, a row each", timings_table};
}

} // namespace umf::app
