#include "hw/dram/controller.h"

#include "model/base/quantity.h"

#include <fmt/format.h>

template <>
struct umf::EnumNames<umf::hw::dram::PagePolicy> {
  using E = hw::dram::PagePolicy;
  static constexpr std::pair<std::string_view, E> list[] = {
      {"open", E::open}, {"closed", E::closed}, {"timeout", E::timeout}};
};

template <>
struct umf::EnumNames<umf::hw::dram::RefreshMode> {
  using E = hw::dram::RefreshMode;
  static constexpr std::pair<std::string_view, E> list[] = {
      {"none", E::none}, {"all_bank", E::all_bank}, {"per_bank", E::per_bank}};
};

namespace umf::hw::dram {

namespace {

constexpr const char* kChoice = "a choice: controllers' queues are not published";
constexpr const char* kMapping =
    "a choice: neighbouring accesses take different units and bank groups";

void add_queues(Component<ControllerConfig>& keys) {
  using C = ControllerConfig;
  keys.key("read_queue", &C::read_queue,
           {.help = "Reads that a unit's queue holds.", .min = 1, .max = 4096, .source = kChoice})
      .key("write_queue", &C::write_queue,
           {.help = "Writes likewise.", .min = 1, .max = 4096, .source = kChoice})
      .key("write_high", &C::write_high,
           {.help = "Writes waiting at which the unit turns to writing.",
            .min = 1,
            .max = 4096,
            .source = "a choice: three quarters of the queue"})
      .key("write_low", &C::write_low,
           {.help = "Writes waiting at which it turns back to reading.",
            .max = 4096,
            .source = "a choice: a quarter of the queue"})
      .key("age_cap", &C::age_cap,
           {.help = "A request that has waited longer goes before younger row hits of its bank "
                    "and of other ranks; a write that has begins a drain, a read ends one.",
            .min = 1_ns,
            .max = 1000000_ns,
            .source = "a choice: half a refresh interval"});
}

void add_pages(Component<ControllerConfig>& keys) {
  using C = ControllerConfig;
  keys.key("page", &C::page,
           {.help = "What happens to a row after its last request in the queue: it stays open, "
                    "is closed, or is closed after page_timeout.",
            .source = "the open page of DRAMsim3, Ramulator and DRAMSys"})
      .key("page_timeout", &C::page_timeout,
           {.help = "With page \"timeout\": time after the last access of a row.",
            .min = 1_ns,
            .max = 1000000_ns,
            .source = "a choice: four row cycles"})
      .key("refresh", &C::refresh,
           {.help = "All banks of a rank at once, one bank (DDR5: one of every group) at a time, "
                    "or never.",
            .source = "a choice: the other banks go on working"})
      .key("postpone", &C::postpone,
           {.help = "Refreshes of a rank that may be owed while requests wait.",
            .max = 8,
            .from = Provenance::standard,
            .source = "JESD79-5: at most 4 refreshes postponed"});
}

void add_mapping(Component<ControllerConfig>& keys) {
  using C = ControllerConfig;
  keys.key("stagger", &ControllerConfig::stagger,
           {.help = "Refreshes of the units are spread over their interval; false: all units "
                    "refresh together, which stops whoever sends in order less often.",
            .from = Provenance::derived,
            .source = "assumed: spreads the current that refreshes draw"})
      .key("mapping", &C::mapping,
           {.help = "Fields of an address from the most significant to the least: row, rank, bank, "
                    "group, column, unit; \"column:2\" is two bits of one (hw/dram/README.md).",
            .source = kMapping})
      .key("hash", &C::hash,
           {.help =
                "\"bank^row>>2\": the bits of a field XORed with those of another; none: bank and "
                "rank with all bits of the row, as far as the list goes.",
            .source = "Zhang, Zhu and Zhang, MICRO-33 (2000): rows that would meet in a bank are "
                      "spread over all; Pessl et al., USENIX Security 2016, found such in "
                      "controllers"})
      .key("interleave", &C::interleave,
           {.help = "Consecutive bytes of one stack (HBM) or channel (DDR) before the next.",
            .min = Bytes{32},
            .max = 1_GiB,
            .source = "a choice: eight accesses of 32 bytes"});
}

} // namespace

const Component<ControllerConfig>& controller_component() {
  static const auto keys = [] {
    Component<ControllerConfig> all("dram.controller",
                                    "The memory controller of each unit of a DRAM.");
    add_queues(all);
    add_pages(all);
    add_mapping(all);
    return all;
  }();
  return keys;
}

void check_controller(const ControllerConfig& config, const std::string& pointer,
                      KeyContext& context) {
  const auto fault = [&](const char* key, const std::string& message) {
    context.fault(context.place_of(fmt::format("{}/{}", pointer, key)), message);
  };
  if (config.write_high > config.write_queue)
    fault("write_high", fmt::format("a drain begins at {} writes and the queue holds {}, expected "
                                    "at most that",
                                    config.write_high, config.write_queue));
  if (config.write_low >= config.write_high)
    fault("write_low", fmt::format("a drain ends at {} writes and begins at {}, expected less",
                                   config.write_low, config.write_high));
}

} // namespace umf::hw::dram
