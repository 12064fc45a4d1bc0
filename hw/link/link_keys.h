#pragma once

#include "hw/link/cxl.h"
#include "model/base/keys.h"

/// What links declare alike at burst and at line resolution: help, range, where the default comes
/// from.
namespace umf::hw::link {

KeyOptions<std::uint32_t> generation_key();
KeyOptions<std::uint32_t> width_key();
KeyOptions<Femtoseconds> pcie_latency_key();
KeyOptions<Bytes> request_overhead_key();
KeyOptions<Bytes> completion_overhead_key();
KeyOptions<std::uint32_t> ack_every_key();
KeyOptions<std::uint32_t> update_every_key();
KeyOptions<std::uint32_t> skip_interval_key();
KeyOptions<Femtoseconds> recovery_key();

// Of what asks over PCIe.
KeyOptions<Bytes> max_payload_key();
KeyOptions<Bytes> max_read_request_key();
KeyOptions<std::uint32_t> read_tags_key();

KeyOptions<std::uint32_t> cxl_generation_key();
KeyOptions<std::uint32_t> cxl_width_key();
KeyOptions<Femtoseconds> cxl_latency_key();
KeyOptions<FlitSize> flit_key();

KeyOptions<std::uint32_t> nvlink_count_key();
KeyOptions<Femtoseconds> nvlink_latency_key();
KeyOptions<Bytes> nvlink_overhead_key();

} // namespace umf::hw::link
