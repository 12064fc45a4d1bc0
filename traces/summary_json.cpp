#include "traces/summary.h"

namespace umf::traces {

using Json = nlohmann::ordered_json;

namespace {

/// As it is, or with U+FFFD for what is not UTF-8, which no JSON text can hold.
std::string utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

Json devices_of(const stream::Header& header) {
  Json devices = Json::array();
  for (const auto& device : header.devices)
    devices.push_back({{"id", device.id},
                       {"name", utf8(device.name)},
                       {"architecture", utf8(device.architecture)},
                       {"memory_bytes", device.memory.count},
                       {"sms", device.sms},
                       {"clock_hz", device.clock.value}});
  return devices;
}

void add_moves(Json& json, const std::string& many, const std::string& one,
               const Summary::Moves& moves) {
  json[many] = moves.count;
  json[one + "_bytes"] = moves.bytes.count;
  json[one + "_ns"] = moves.total_ns;
  json[many + "_without_bytes"] = moves.unsized;
}

Json tensors_of(const Summary& summary) {
  Json tensors = Json::object();
  for (std::size_t i = 0; i < Summary::kRoles; ++i)
    tensors[std::string(name_of(static_cast<stream::Role>(i)))] = {
        {"count", summary.tensors[i].count}, {"bytes", summary.tensors[i].bytes.count}};
  return tensors;
}

Json oddities_of(const Summary& summary) {
  Json oddities = Json::array();
  for (const auto& oddity : summary.oddities)
    oddities.push_back({{"code", utf8(oddity.code)},
                        {"sentence", utf8(oddity.sentence)},
                        {"count", oddity.count},
                        {"first_place", utf8(oddity.first_place)}});
  return oddities;
}

void add_times(Json& json, const Summary& summary) {
  json["measured_kernels"] = summary.measured_kernels;
  json["measured_kernel_ns"] = summary.measured_kernel_ns;
  json["busy_ns"] = summary.busy_ns;
  json["span_ns"] = summary.span_ns;
  json["duration_ns"] = nullptr;
  if (const auto& durations = summary.durations)
    json["duration_ns"] = {{"min", durations->shortest_ns},
                           {"median", durations->median_ns},
                           {"max", durations->longest_ns}};
  json["zero_duration"] = summary.zero_durations;
  json["negative_duration"] = summary.negative_durations;
  json["same_stream_overlaps"] = summary.same_stream_overlaps;
  json["max_overlap_ns"] = summary.max_overlap_ns;
}

} // namespace

Json to_json(const Summary& summary) {
  const auto& header = summary.header;
  Json json;
  json["format"] = utf8(header.format);
  json["source"] = utf8(header.source);
  json["provenance"] = utf8(header.provenance);
  json["device"] = header.devices.empty() ? "" : utf8(header.devices.front().name);
  json["devices"] = devices_of(header);
  json["kernels"] = summary.kernels;
  json["unknown_kernels"] = summary.unknown_kernels;
  json["joined_kernels"] = summary.joined_kernels;
  json["unique_kernel_names"] = summary.unique_kernel_names;
  json["grid_present"] = summary.grid_present;
  json["streams"] = summary.streams;
  add_moves(json, "copies", "copy", summary.copies);
  add_moves(json, "memsets", "memset", summary.memsets);
  json["syncs"] = summary.syncs;
  json["requests"] = summary.requests;
  json["marks"] = summary.marks;
  json["tensors"] = tensors_of(summary);
  add_times(json, summary);
  for (std::size_t i = 0; i < Summary::kRules; ++i) {
    const std::string rule(name_of(static_cast<stream::Rule>(i)));
    json["inferred_bytes"][rule] = summary.inferred[i].bytes.count;
    json["kernels_by_rule"][rule] = summary.inferred[i].kernels;
  }
  json["oddities"] = oddities_of(summary);
  return json;
}

} // namespace umf::traces
