#include "hw/link/node.h"

#include "hw/dram/standard.h"
#include "hw/link/link_keys.h"

namespace umf::hw::link {

namespace {

constexpr Femtoseconds kLongest{1'000'000'000'000}; // 1 ms

const Component<TranslationConfig>& translation_component() {
  static const auto keys =
      Component<TranslationConfig>("translation", "Addresses translated on their way.")
          .key("entries", &TranslationConfig::entries,
               {.help = "Pages whose translation is held, the one not used for longest leaves; 0: "
                        "addresses need none.",
                .max = 1 << 20,
                .from = Provenance::derived,
                .source = "none: translation off"})
          .key("page", &TranslationConfig::page,
               {.help = "Size of a page.",
                .min = Bytes{4096},
                .max = 1_GiB,
                .from = Provenance::standard,
                .source = "x86-64: 4 KiB"})
          .key("hit_latency", &TranslationConfig::hit_latency,
               {.help = "Of one that is held.",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::derived,
                .source = "within the latency of the node"})
          .key("walk_latency", &TranslationConfig::walk_latency,
               {.help = "Of one that is not: the walk, and the way to the walker where it is not "
                        "here.",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::derived,
                .source = "a few reads of memory of 90 ns"})
          .key("walkers", &TranslationConfig::walkers,
               {.help = "Walks under way at a time.",
                .min = 1,
                .max = 1024,
                .from = Provenance::derived,
                .source = "a few; no source found"});
  return keys;
}

TranslationOptions translation_options(const TranslationConfig& config) {
  return {config.entries, config.page, config.hit_latency, config.walk_latency, config.walkers};
}

} // namespace

const Component<RequesterConfig>& requester_component() {
  static const auto keys =
      Component<RequesterConfig>("line.requester", "A DMA or copy engine, an SM's loads, a CXL.mem "
                                                   "master at line resolution.")
          .key("max_payload", &RequesterConfig::max_payload, max_payload_key())
          .key("max_read_request", &RequesterConfig::max_read_request, max_read_request_key())
          .key("write_boundary", &RequesterConfig::write_boundary,
               {.help = "Writes are cut at multiples of this too; 0: at 4 KiB alone.",
                .max = Bytes{4096},
                .from = Provenance::derived,
                .source = "none"})
          .key("read_tags", &RequesterConfig::read_tags, read_tags_key())
          .key("write_tags", &RequesterConfig::write_tags,
               {.help = "Write packets outstanding where writes are answered (CXL.mem); 0: posted.",
                .max = 65536,
                .from = Provenance::standard,
                .source = "PCIe base specification: memory writes are posted"})
          .key("read_rate", &RequesterConfig::read_rate,
               {.help = "Read transactions begun a second; none: no limit.",
                .min = Hertz{1e3},
                .from = Provenance::derived,
                .source = "none: no limit"})
          .key("write_rate", &RequesterConfig::write_rate,
               {.help = "Write transactions begun a second; none: no limit.",
                .min = Hertz{1e3},
                .from = Provenance::derived,
                .source = "none: no limit"})
          .key("latency", &RequesterConfig::latency,
               {.help = "Of the engine, before a transaction's first packet.",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::derived,
                .source = "none: measured from the port"})
          .key("relaxed_ordering", &RequesterConfig::relaxed_ordering,
               {.help = "Its completions may pass posted writes.",
                .from = Provenance::standard,
                .source = "PCIe base specification, attribute RO, off by default"})
          .key("link_interleave", &RequesterConfig::link_interleave,
               {.help = "Of consecutive addresses over parallel links.",
                .min = Bytes{64},
                .max = 1_MiB,
                .from = Provenance::derived,
                .source = "a page of 4 KiB"})
          .group("translation", &RequesterConfig::translation, translation_component());
  return keys;
}

const Component<SwitchConfig>& switch_component() {
  static const auto keys =
      Component<SwitchConfig>("line.switch", "Switch or root complex at line resolution.")
          .key("latency", &SwitchConfig::latency,
               {.help = "From a packet's header in to its header out (cut-through).",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::datasheet,
                .source = "Broadcom PEX88096: 105 ns"})
          .key("arbitration", &SwitchConfig::arbitration,
               {.help = "How ports share a way out.",
                .from = Provenance::standard,
                .source = "PCIe base specification, port arbitration: round robin"})
          .key("weights", &SwitchConfig::weights,
               {.help = "With weighted arbitration: turns of 256 B, by port in order of the links.",
                .min = 1,
                .max = 256,
                .from = Provenance::derived,
                .source = "none: 1 each"})
          .key("acs_redirect", &SwitchConfig::acs_redirect,
               {.help = "What goes from port to port goes up to the root complex and down again; "
                        "the first link leads up.",
                .from = Provenance::standard,
                .source = "PCIe base specification, ACS P2P redirect: off by default"})
          .key(
              "rc_p2p_limit", &SwitchConfig::rc_p2p_limit,
              {.help = "Data a second from port to port, both directions together; none: no limit.",
               .min = BytesPerSecond{1e6},
               .from = Provenance::derived,
               .source = "none: no limit"})
          .group("iommu", &SwitchConfig::iommu, translation_component());
  return keys;
}

const Component<MemoryConfig>& memory_component() {
  static const auto keys =
      Component<MemoryConfig>("line.memory", "Memory behind links at line resolution.")
          .key("max_payload", &MemoryConfig::max_payload,
               {.help = "Most bytes of a completion.",
                .min = Bytes{64},
                .max = Bytes{4096},
                .from = Provenance::standard,
                .source = "PCIe base specification: MPS"})
          .key("completion_boundary", &MemoryConfig::completion_boundary,
               {.help = "Completions end at multiples of this (RCB).",
                .min = Bytes{16},
                .max = Bytes{4096},
                .from = Provenance::standard,
                .source = "PCIe base specification: 64 or 128 B"})
          .key("latency", &MemoryConfig::latency,
               {.help = "From a request to its data; with media: of the controller, both ways, "
                        "without them.",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::derived,
                .source = "an unloaded read of DDR5"})
          .key("bandwidth", &MemoryConfig::bandwidth,
               {.help = "Without media: what it takes and gives a second; none: no limit.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::derived,
                .source = "none: no limit"})
          .key("queue", &MemoryConfig::queue,
               {.help = "Requests in service, reads and writes each.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "covers 64 GB/s of 256 B over a microsecond"})
          .key("media", &MemoryConfig::media,
               {.help = "DRAM behind it, a shipped standard; none: latency and bandwidth alone.",
                .from = Provenance::derived,
                .source = "none"})
          .key("channels", &MemoryConfig::channels,
               {.help = "Channels of that.",
                .min = 1,
                .max = 64,
                .from = Provenance::derived,
                .source = "one"})
          .group("controller", &MemoryConfig::controller, dram::controller_component())
          .key("cache_lines", &MemoryConfig::cache_lines,
               {.help = "64 B lines of a cache in front of it; 0: none.",
                .max = 1 << 24,
                .from = Provenance::derived,
                .source = "none"})
          .key("cache_latency", &MemoryConfig::cache_latency,
               {.help = "Of a hit in it.",
                .min = Femtoseconds{0},
                .max = kLongest,
                .from = Provenance::derived,
                .source = "controller without media"});
  return keys;
}

RequesterOptions requester_options(const RequesterConfig& config) {
  RequesterOptions options;
  options.max_payload = static_cast<std::uint32_t>(config.max_payload.count);
  options.max_read_request = static_cast<std::uint32_t>(config.max_read_request.count);
  options.payload_boundary = static_cast<std::uint32_t>(config.write_boundary.count);
  options.tags = config.read_tags;
  options.write_tags = config.write_tags;
  options.read_rate = config.read_rate;
  options.write_rate = config.write_rate;
  options.latency = config.latency;
  options.relaxed = config.relaxed_ordering;
  options.interleave = config.link_interleave;
  options.translation = translation_options(config.translation);
  return options;
}

ForwardOptions forward_options(const SwitchConfig& config) {
  return {config.latency,      config.arbitration,  config.weights,
          config.acs_redirect, config.rc_p2p_limit, translation_options(config.iommu)};
}

MemoryOptions memory_options(const MemoryConfig& config) {
  MemoryOptions options;
  options.max_payload = static_cast<std::uint32_t>(config.max_payload.count);
  options.boundary = static_cast<std::uint32_t>(config.completion_boundary.count);
  options.latency = config.latency;
  options.bandwidth = config.bandwidth;
  options.queue = config.queue;
  if (config.media) {
    const dram::DramStandard standard = dram::read_standard(*config.media);
    options.dram = dram::dram_config(standard, standard.tCK, config.controller, config.channels);
  }
  options.cache_lines = config.cache_lines;
  options.cache_latency = config.cache_latency;
  return options;
}

} // namespace umf::hw::link
