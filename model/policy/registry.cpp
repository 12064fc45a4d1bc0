#include "model/policy/registry.h"

#include <array>
#include <string>
#include <vector>

namespace umf::policy {

// One declaration and one line in the table per policy; each lives in its own .cpp.
Kind hbm_only();
Kind fixed_shares();
Kind lru();
Kind remote_read();
Kind umf();
Kind belady();
Kind best_static();

std::span<const Kind> kinds() {
  static const std::array table = {
      hbm_only(), fixed_shares(), lru(), remote_read(), umf(), best_static(), belady(),
  };
  return table;
}

const Kind& kind_named(std::string_view name) {
  for (const Kind& kind : kinds())
    if (kind_of(*kind.info) == name) return kind;
  throw InvariantError("no policy of that name");
}

KeyOptions<double> hbm_reserve_key() {
  return {.help = "Share of HBM that the initial weights leave free.",
          .min = 0.0,
          .max = 1.0,
          .from = Provenance::claimed,
          .source = "umf-three-tier document, tuner defaults 0.15/0.25"};
}

namespace {

const std::vector<std::string>& roles() {
  static const std::vector<std::string> all = {"weight", "kv-key", "kv-value",  "activation",
                                               "expert", "lora",   "workspace", "unknown"};
  return all;
}

} // namespace

void check_role_list(const std::vector<std::string>& list, const std::string& pointer,
                     KeyContext& context) {
  for (const std::string& name : list)
    if (!stream::value_of<stream::Role>(name))
      context.fault(context.place_of(pointer),
                    "unknown role " + in_quotes(name) + ", " + suggestion(name, roles()));
}

void check_roles(const JsonValue& object, std::string_view key, KeyContext& context) {
  const JsonValue* map = object.find(key);
  if (map == nullptr) return;
  if (const JsonValue* value = map->find("value"); value != nullptr && value->is_object())
    map = value; // annotated
  for (const auto& member : map->members())
    if (!stream::value_of<stream::Role>(member.name))
      context.fault(member.place, "unknown role " + in_quotes(member.name) + ", " +
                                      suggestion(member.name, roles()));
}

} // namespace umf::policy
