#include "traces/address/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace umf::traces::address {

using Json = nlohmann::ordered_json;

namespace {

/// As it is, or with U+FFFD for what is not UTF-8.
std::string utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

bool timed(const Summary& summary) {
  return summary.form == Form::dramsim3;
}

bool gaps(const Summary& summary) {
  return summary.form == Form::instructions;
}

} // namespace

Summary summarise(Reader& reader, const std::function<void()>& each) {
  Summary summary;
  summary.source = std::filesystem::path(reader.name()).filename().string();
  summary.form = reader.form();
  summary.lowest = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t now_and_then = 1 << 16;
  std::uint64_t requests = 0;
  for (AddressRequest request; reader.next(request); ++requests) {
    if (requests % now_and_then == 0) each();
    ++(request.write ? summary.writes : summary.reads);
    summary.lowest = std::min(summary.lowest, request.address);
    summary.highest = std::max(summary.highest, request.address);
    if (reader.timed()) {
      if (requests == 0) summary.first_cycle = request.cycle_or_gap;
      summary.last_cycle = request.cycle_or_gap;
    } else if (__builtin_add_overflow(summary.gap_instructions, request.cycle_or_gap,
                                      &summary.gap_instructions)) {
      summary.gap_instructions = std::numeric_limits<std::uint64_t>::max();
    }
  }
  return summary;
}

Json to_json(const Summary& summary) {
  Json json;
  json["format"] = "address";
  json["form"] = name_of(summary.form);
  json["source"] = utf8(summary.source);
  json["device"] = "";
  json["kernels"] = 0;
  json["copies"] = 0;
  json["streams"] = 0;
  json["requests"] = summary.reads + summary.writes;
  json["reads"] = summary.reads;
  json["writes"] = summary.writes;
  json["lowest_address"] = summary.lowest;
  json["highest_address"] = summary.highest;
  json["first_cycle"] = timed(summary) ? Json(summary.first_cycle) : Json();
  json["last_cycle"] = timed(summary) ? Json(summary.last_cycle) : Json();
  json["gap_instructions"] = gaps(summary) ? Json(summary.gap_instructions) : Json();
  json["measured_kernel_ns"] = 0;
  json["busy_ns"] = 0;
  json["copy_bytes"] = 0;
  json["inferred_bytes"] = Json::object();
  json["oddities"] = Json::array();
  return json;
}

std::string to_text(const Summary& summary) {
  std::string text = fmt::format("source        {}\nformat        address, {}\n", summary.source,
                                 name_of(summary.form));
  text += "kernels       none: it is replayed request by request (--resolution line)\n";
  text += fmt::format("requests      {}: {} reads, {} writes\n", summary.reads + summary.writes,
                      summary.reads, summary.writes);
  text += fmt::format("addresses     {:#x} to {:#x}\n", summary.lowest, summary.highest);
  if (timed(summary))
    text += fmt::format("arrivals      cycle {} to {}\n", summary.first_cycle, summary.last_cycle);
  else if (gaps(summary))
    text += fmt::format("instructions  {} between the requests\n", summary.gap_instructions);
  else
    text += "arrivals      not said\n";
  return text;
}

} // namespace umf::traces::address
