#pragma once

#include "hw/dram/dram.h"
#include "hw/link/wire_rate.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the engine runs on. Scenarios give it through the keys of pcie.h, cxl.h, nvlink.h, node.h.
namespace umf::hw::link {

/// Classes of traffic with queues and credits of their own.
enum class Kind : std::uint8_t {
  posted,     ///< writes: PCIe posted, CXL M2S RwD
  request,    ///< reads: PCIe non-posted, CXL M2S Req
  completion, ///< data of reads: PCIe completion, CXL S2M DRS
  response,   ///< writes done: CXL S2M NDR
};
inline constexpr std::size_t kKinds = 4;
std::string_view name_of(Kind kind);
constexpr std::size_t index(Kind kind) {
  return static_cast<std::size_t>(kind);
}

/// Room that a receiver advertises for one kind; data in units of 16 B. 0: endless.
struct Credit {
  std::uint32_t headers = 0, data = 0;
};

enum class Framing : std::uint8_t {
  packets,  ///< each packet by itself: PCIe TLPs, NVLink packets
  flits68,  ///< CXL 1.1/2.0: four slots of 16 B, CRC and protocol identifier
  flits256, ///< CXL 3.0: fifteen slots of 16 B in 256 B
};

/// One link, both directions alike.
struct LinkOptions {
  std::string name;
  WireRate rate;
  Femtoseconds latency{}; ///< PHY, link layer and wire, one way
  Framing framing = Framing::packets;
  std::array<std::uint32_t, kKinds> overhead{}; ///< bytes around a packet's payload
  std::array<Credit, kKinds> credits{};
  bool ordered = true; ///< reads and completions do not pass posted writes

  std::uint32_t control_bytes = 8;       ///< an ACK or credit update; 0: carried by other packets
  std::uint32_t ack_every = 1;           ///< packets that one ACK answers
  std::uint32_t update_every = 1;        ///< packets whose room one update gives back
  Femtoseconds control_wait{};           ///< the longest an ACK or update is held back
  std::uint64_t replay_buffer = 1 << 20; ///< bytes sent and not yet acknowledged
  double bit_error_rate = 0;

  Femtoseconds skip_interval{};     ///< between skip ordered sets; 0: none
  Femtoseconds skip_time{};         ///< wire time of one
  Femtoseconds idle_before_sleep{}; ///< ASPM L1 after so long; 0: never
  Femtoseconds wake_time{};

  Femtoseconds recovery{};             ///< the link is down for so long when speed or width change
  std::uint32_t errors_to_degrade = 0; ///< errors within `error_window`; 0: never
  Femtoseconds error_window{};
  WireRate degraded;           ///< then
  Femtoseconds degraded_for{}; ///< and back after so long; 0: stays
};

enum class Arbitration : std::uint8_t { round_robin, weighted };

/// Addresses translated on their way: by an IOMMU in front of memory, or by a device that asks
/// ahead (ATS).
struct TranslationOptions {
  std::uint32_t entries = 0; ///< pages whose translation is held; 0: addresses need none
  Bytes page{4096};
  Femtoseconds hit{}, miss{};
  std::uint32_t walkers = 1; ///< misses served at a time
};

/// Passes on what is for others.
struct ForwardOptions {
  Femtoseconds latency{};
  Arbitration arbitration = Arbitration::round_robin;
  std::vector<std::uint32_t> weights{}; ///< by port in order of connection; absent: 1
  bool redirect = false;                ///< ACS: what goes from port to port goes by the first port
  std::optional<BytesPerSecond> peer_rate{}; ///< of data from port to port
  TranslationOptions translation{};          ///< of requests that come in
};

/// Asks for data and sends it: a DMA or copy engine, an SM's loads, a CXL.mem master.
struct RequesterOptions {
  std::uint32_t max_payload = 256, max_read_request = 512; ///< bytes
  std::uint32_t boundary = 4096; ///< packets do not cross multiples of this
  std::uint32_t payload_boundary =
      0;                        ///< writes are cut at multiples of this too; 0: no more than above
  std::uint32_t tags = 768;     ///< reads outstanding
  std::uint32_t write_tags = 0; ///< writes outstanding where they are answered; 0: posted
  std::optional<Hertz> read_rate{}, write_rate{}; ///< transactions begun a second
  Femtoseconds latency{};                         ///< before the first packet
  bool relaxed = false;                           ///< completions may pass posted writes
  Bytes interleave{4096};                         ///< over parallel links
  TranslationOptions translation{};
};

/// Holds data.
struct MemoryOptions {
  std::uint32_t max_payload = 256; ///< of a completion
  std::uint32_t boundary = 64;     ///< completions end at multiples of this (RCB)
  Femtoseconds latency{};          ///< from a request's arrival to its data, without banks
  std::optional<BytesPerSecond> bandwidth{};
  std::uint32_t queue = 64; ///< requests in service
  std::optional<dram::DramConfig> dram{};
  std::uint32_t cache_lines = 0; ///< of 64 B, in front of the banks
  Femtoseconds cache_latency{};
  /// Data that lie beyond another link: requests go on to these nodes, interleaved.
  std::vector<std::uint32_t> behind{};
  Bytes behind_interleave{256};
};

struct NodeOptions {
  std::string name;
  std::optional<ForwardOptions> forward{};
  std::optional<RequesterOptions> requester{};
  std::optional<MemoryOptions> memory{};
};

} // namespace umf::hw::link
