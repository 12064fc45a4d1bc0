#pragma once

#include "hw/link/cxl.h"
#include "hw/link/drive.h"
#include "hw/link/node.h"
#include "hw/link/nvlink.h"
#include "hw/link/pcie.h"
#include "model/base/json.h"

#include <string>
#include <variant>

namespace umf::hw::link {

using AnyLink = std::variant<PcieConfig, CxlConfig, NvlinkConfig>;

/// The way from one or more equal requesters to memory, as a JSON object: links of each, perhaps a
/// switch with the links behind it, one or more equal memories.
struct PathConfig {
  RequesterConfig requester;
  std::uint32_t requesters = 1;
  std::uint32_t links = 1;
  AnyLink link;
  bool through_switch = false;
  SwitchConfig middle;
  AnyLink device_link;
  MemoryConfig memory;
  std::uint32_t devices = 1;
  Bytes interleave{256};
};

/// Keys of the object itself; "link" and "device_link" are objects with a "kind".
const Component<PathConfig>& path_component();
/// Faults go to the context.
PathConfig read_path(const JsonValue& object, KeyContext& context);
/// Throws UserError for a file with faults; `sets` are POINTER=VALUE over it.
PathConfig read_path_file(const std::string& file, const std::vector<std::string>& sets = {});

/// The path as nodes and links of a network of its own.
struct Path {
  explicit Path(const PathConfig& config, std::uint64_t seed = 1);
  Network network;
  std::vector<NodeId> requesters;
  std::vector<NodeId> memories;
  Bytes interleave;
  /// A load of the first requester over all memories.
  Load load(bool write, Bytes size, std::uint32_t outstanding, std::uint64_t transactions) const;
};

/// As many parallel links as the config says.
std::uint32_t links_of(const AnyLink& link, std::uint32_t otherwise);
LinkOptions link_options(const AnyLink& link, std::string name);

} // namespace umf::hw::link
