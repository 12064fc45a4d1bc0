#include "hw/link/link_keys.h"

#include "hw/link/generation.h"

namespace umf::hw::link {

namespace {

constexpr const char* kOneWay = "PHY and link layer of both ends and the wire, one way (boundary: "
                                "port).";

KeyOptions<Femtoseconds> latency(Provenance from, std::string source) {
  return {.help = kOneWay,
          .min = Femtoseconds{0},
          .max = 1000000_ns,
          .from = from,
          .source = std::move(source)};
}

} // namespace

KeyOptions<std::uint32_t> generation_key() {
  return {.help = "PCIe generation: rate, line code, framing.",
          .min = 1,
          .max = kGenerations,
          .from = Provenance::datasheet,
          .source = "NVIDIA H100: PCIe Gen5"};
}

KeyOptions<std::uint32_t> width_key() {
  return {.help = "Lanes of one link.",
          .min = 1,
          .max = 32,
          .from = Provenance::datasheet,
          .source = "NVIDIA H100: x16"};
}

KeyOptions<Femtoseconds> pcie_latency_key() {
  return latency(Provenance::derived,
                 "Gen5 GPU read of host DRAM 575 ns (RTX 5090) less 300 ns on the GPU and "
                 "137 ns of DRAM, two ways");
}

KeyOptions<Bytes> request_overhead_key() {
  return {.help = "Framing, data-link and header bytes of a request or write; Gen6 has 8 B less, "
                  "which are the flit's.",
          .min = Bytes{12},
          .max = Bytes{64},
          .from = Provenance::standard,
          .source =
              "pcie-bench/pcie-model model/pcie.py: 8 + 4 + 12 B; 20 B with 32-bit addresses"};
}

KeyOptions<Bytes> completion_overhead_key() {
  return {.help = "The same of a completion.",
          .min = Bytes{12},
          .max = Bytes{64},
          .from = Provenance::standard,
          .source = "pcie-bench/pcie-model model/pcie.py: 8 + 4 + 8 B"};
}

KeyOptions<std::uint32_t> ack_every_key() {
  return {.help = "TLPs that one ACK DLLP of 8 B answers.",
          .min = 1,
          .max = 64,
          .from = Provenance::standard,
          .source = "PCIe base specification, AckFactor of x16"};
}

KeyOptions<std::uint32_t> update_every_key() {
  return {.help = "TLPs whose room one UpdateFC DLLP of 8 B gives back.",
          .min = 1,
          .max = 64,
          .from = Provenance::standard,
          .source = "PCIe base specification, UpdateFactor of x16"};
}

KeyOptions<std::uint32_t> skip_interval_key() {
  return {.help = "Blocks between skip ordered sets of one block; 0: none. Gen1 and Gen2 send 4 of "
                  "1538 symbols.",
          .max = 100000,
          .from = Provenance::standard,
          .source = "PCIe base specification 4.2.7.3: 370 to 375"};
}

KeyOptions<Femtoseconds> recovery_key() {
  return {.help = "How long the link is down when its speed or width changes.",
          .min = Femtoseconds{0},
          .max = Femtoseconds{1'000'000'000'000'000},
          .from = Provenance::derived,
          .source = "assumed: Recovery with a change of speed takes tens of microseconds; no "
                    "measurement found"};
}

KeyOptions<Bytes> max_payload_key() {
  return {.help = "MPS: most data bytes of a write or completion packet.",
          .min = Bytes{16},
          .max = Bytes{4096},
          .from = Provenance::standard,
          .source = "PCIe base specification: 128 to 4096 B; 256 B is usual"};
}

KeyOptions<Bytes> max_read_request_key() {
  return {.help = "MRRS: most bytes that one read packet asks for.",
          .min = Bytes{16},
          .max = Bytes{4096},
          .from = Provenance::standard,
          .source = "PCIe base specification, default 512 B"};
}

KeyOptions<std::uint32_t> read_tags_key() {
  return {.help = "Read packets outstanding; with max_read_request it bounds reads by latency.",
          .min = 1,
          .max = 65536,
          .from = Provenance::standard,
          .source = "PCIe base specification 4.0: 10-bit tags, 768 usable"};
}

KeyOptions<std::uint32_t> cxl_generation_key() {
  return {.help = "PCIe generation of the PHY.",
          .min = 3,
          .max = kGenerations,
          .from = Provenance::standard,
          .source = "CXL 2.0 on PCIe Gen5"};
}

KeyOptions<std::uint32_t> cxl_width_key() {
  return {.help = "Lanes of one link.",
          .min = 1,
          .max = 32,
          .from = Provenance::claimed,
          .source = "umf-three-tier document: x16"};
}

KeyOptions<Femtoseconds> cxl_latency_key() {
  return latency(Provenance::derived,
                 "CXL.mem round trip through one port pair of about 50 ns, half each way");
}

KeyOptions<FlitSize> flit_key() {
  return {.help = "68B: four slots of 16 B, CRC and protocol identifier; 256B: fifteen slots.",
          .from = Provenance::standard,
          .source = "CXL 2.0: 68 B"};
}

KeyOptions<std::uint32_t> nvlink_count_key() {
  return {.help = "Links between the two ends; addresses are spread over them.",
          .min = 1,
          .max = 64,
          .from = Provenance::datasheet,
          .source = "NVIDIA H100: 18; A100: 12"};
}

KeyOptions<Femtoseconds> nvlink_latency_key() {
  return latency(Provenance::derived, "below 1 µs for small messages (umf documents); no "
                                      "measurement without a launch found");
}

KeyOptions<Bytes> nvlink_overhead_key() {
  return {.help = "Header, CRC and address bytes of a packet.",
          .min = Bytes{0},
          .max = Bytes{128},
          .from = Provenance::fitted,
          .source = "HW108 and HW113: 274 of 300 GB/s with 256 B, 20 of 25 GB/s with 128 B; whole "
                    "flits of 16 B"};
}

} // namespace umf::hw::link
