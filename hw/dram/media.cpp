#include "hw/dram/media.h"

#include "model/base/json.h"
#include "model/base/key_reading.h"
#include "model/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace umf::hw::dram {

namespace {

/// A value read from elsewhere takes the place of a member of the scenario.
void move_below(JsonValue& value, const std::string& pointer) {
  value.place().pointer = pointer;
  for (auto& member : value.members()) {
    move_below(member.value, pointer + "/" + member.name);
    member.place.pointer = pointer;
  }
  std::size_t n = 0;
  for (auto& item : value.items())
    move_below(item, pointer + "/" + std::to_string(n++));
}

const EmbeddedStandard* shipped(const std::string& name) {
  for (const EmbeddedStandard& standard : shipped_standards())
    if (standard.name == name) return &standard;
  return nullptr;
}

} // namespace

Standards::Standards(const JsonValue& section, KeyContext& context) {
  if (!section.is_object()) {
    context.fault(section.place(), section.found() + ", expected an object of name: {standard}");
    return;
  }
  for (const auto& member : section.members()) {
    if (!require_object(member.value, context)) continue;
    if (const JsonValue* kind = member.value.find("kind");
        kind != nullptr && kind->text() != "standard")
      context.fault(kind->place(), kind->found() + ", expected \"standard\"");
    JsonValue object = member.value;
    if (const EmbeddedStandard* base = shipped(member.name)) {
      object = parse_json(base->text, "standard " + member.name);
      move_below(object, member.value.place().pointer);
      for (const auto& changed : member.value.members()) {
        if (JsonValue* value = object.find(changed.name))
          *value = changed.value;
        else
          object.members().push_back(changed);
      }
    }
    given_[member.name] = std::make_shared<const DramStandard>(read_standard(object, context));
  }
}

std::shared_ptr<const DramStandard>
Standards::find(const std::string& name, const std::string& pointer, KeyContext& context) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  if (shipped(name) != nullptr) return std::make_shared<const DramStandard>(read_standard(name));
  std::vector<std::string> names;
  for (const EmbeddedStandard& standard : shipped_standards())
    names.emplace_back(standard.name);
  for (const auto& [given, standard] : given_)
    if (shipped(given) == nullptr) names.push_back(given);
  std::string list;
  for (const std::string& each : names)
    list += (list.empty() ? "" : ", ") + each;
  context.fault(context.place_of(pointer),
                fmt::format("unknown standard \"{}\", expected {} or one of the section dram{}",
                            name, list, near_hint(name, names)));
  return nullptr;
}

BytesPerSecond fastest(const Media& media) {
  return {media.stacks * peak(*media.standard, media.standard->tCK).value};
}

BytesPerSecond peak(const Media& media) {
  return media.bandwidth.value_or(fastest(media));
}

DramConfig config(const Media& media) {
  const DramStandard& standard = *media.standard;
  const double slower = fastest(media).value / peak(media).value;
  const Femtoseconds clock{
      std::max<std::int64_t>(1, std::llround(static_cast<double>(standard.tCK.count) * slower))};
  DramConfig config = dram_config(standard, std::max(clock, standard.tCK), media.controller,
                                  media.stacks, media.capacity);
  config.timings.clock = clock;
  return config;
}

void check_media(const Media& media, const std::string& pointer, KeyContext& context) {
  check_controller(media.controller, pointer + "/controller", context);
  const DramConfig fitted = config(media);
  const AddressMap map({fitted.organisation, fitted.units, fitted.stacks, media.controller.mapping,
                        *fitted.controller.hash, media.controller.interleave},
                       pointer + "/controller", context);
}

} // namespace umf::hw::dram
