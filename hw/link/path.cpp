#include "hw/link/path.h"

#include "model/base/nearest.h"

#include <fmt/format.h>

namespace umf::hw::link {

const Component<PathConfig>& path_component() {
  static const auto keys =
      Component<PathConfig>("line.path", "The way from requesters to memory at line resolution.")
          .group("requester", &PathConfig::requester, requester_component())
          .key("requesters", &PathConfig::requesters,
               {.help = "Equal requesters, each with links of its own.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("links", &PathConfig::links,
               {.help = "Parallel PCIe or CXL links of each hop; NVLink has a key of its own.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("through_switch", &PathConfig::through_switch,
               {.help = "Whether a switch or root complex stands between.",
                .from = Provenance::derived,
                .source = "no"})
          .group("switch", &PathConfig::middle, switch_component())
          .group("memory", &PathConfig::memory, memory_component())
          .key("devices", &PathConfig::devices,
               {.help = "Equal memories, addresses interleaved.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .key("interleave", &PathConfig::interleave,
               {.help = "Of consecutive addresses over them.",
                .min = Bytes{64},
                .max = 1_GiB,
                .from = Provenance::standard,
                .source = "CXL 2.0, HDM decoders: from 256 B"});
  return keys;
}

namespace {

AnyLink read_link(const JsonValue& object, KeyContext& context) {
  AnyLink link;
  if (!require_object(object, context)) return link;
  const JsonValue* kind = object.find("kind");
  const std::string name = kind != nullptr && kind->is_text() ? kind->text() : "";
  const std::vector<std::string> kinds = {"pcie", "cxl", "nvlink"};
  if (name == "pcie")
    link = pcie_component().read(object, context);
  else if (name == "cxl")
    link = cxl_component().read(object, context);
  else if (name == "nvlink")
    link = nvlink_component().read(object, context);
  else
    context.fault(kind != nullptr ? kind->place() : object.place(),
                  fmt::format("kind of link {}, {}", in_quotes(name), suggestion(name, kinds)));
  return link;
}

} // namespace

PathConfig read_path(const JsonValue& object, KeyContext& context) {
  PathConfig config;
  if (!require_object(object, context)) return config;
  config = path_component().read_known(object, context);
  std::vector<std::string> known = path_component().names();
  for (const char* more : {"name", "link", "device_link"})
    known.emplace_back(more);
  report_unknown_keys(object, known, context);
  const JsonValue* link = object.find("link");
  if (link == nullptr) {
    context.fault(object.place(), "no \"link\", expected an object with a \"kind\"");
    return config;
  }
  config.link = read_link(*link, context);
  const JsonValue* behind = object.find("device_link");
  config.device_link = behind != nullptr ? read_link(*behind, context) : config.link;
  return config;
}

PathConfig read_path_file(const std::string& file, const std::vector<std::string>& sets) {
  KeyContext context;
  PathConfig config = read_path(load_scenario(file, sets), context);
  context.throw_if_faulty();
  return config;
}

std::uint32_t links_of(const AnyLink& link, std::uint32_t otherwise) {
  const auto* nvlink = std::get_if<NvlinkConfig>(&link);
  return nvlink != nullptr ? nvlink->links : otherwise;
}

LinkOptions link_options(const AnyLink& link, std::string name) {
  return std::visit([&](const auto& config) { return link_options(config, std::move(name)); },
                    link);
}

Path::Path(const PathConfig& config, std::uint64_t seed)
    : network(seed), interleave(config.interleave) {
  NodeOptions asker, middle, memory;
  asker.requester = requester_options(config.requester);
  middle.name = "switch";
  middle.forward = forward_options(config.middle);
  memory.memory = memory_options(config.memory);
  for (std::uint32_t i = 0; i < config.requesters; ++i) {
    asker.name = fmt::format("requester{}", i);
    requesters.push_back(network.add(asker));
  }
  const NodeId near = config.through_switch ? network.add(middle) : 0;
  for (std::uint32_t i = 0; i < config.devices; ++i) {
    memory.name = fmt::format("memory{}", i);
    memories.push_back(network.add(memory));
  }
  const auto join = [&](NodeId from, NodeId to, const AnyLink& link, const std::string& name) {
    for (std::uint32_t i = 0; i < links_of(link, config.links); ++i)
      network.connect(from, to, link_options(link, fmt::format("{}{}", name, i)));
  };
  if (config.through_switch) {
    for (const NodeId r : requesters)
      join(r, near, config.link, "upper");
    for (const NodeId m : memories)
      join(near, m, config.device_link, "lower");
  } else {
    for (const NodeId r : requesters)
      for (const NodeId m : memories)
        join(r, m, config.link, "lower");
  }
}

Load Path::load(bool write, Bytes size, std::uint32_t outstanding,
                std::uint64_t transactions) const {
  Load load;
  load.from = requesters.front();
  load.targets = memories;
  load.interleave = interleave;
  load.size = size;
  load.writes = write ? 1 : 0;
  load.outstanding = outstanding;
  load.transactions = transactions;
  return load;
}

} // namespace umf::hw::link
