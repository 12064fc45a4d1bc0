#pragma once

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

/// A memory as a third party would bring it: it knows SystemC and TLM-2.0, nothing else.
/// Loosely timed; one port that moves `bytes_per_second`, and a latency behind it.
class SimpleMemory : public sc_core::sc_module {
public:
  tlm_utils::simple_target_socket<SimpleMemory> socket{"socket"};

  SimpleMemory(sc_core::sc_module_name name, std::uint64_t size, sc_core::sc_time latency,
               double bytes_per_second)
      : sc_module(name), size_(size), latency_(latency), bytes_per_second_(bytes_per_second),
        // Zeroed by the system when first touched: an untouched gigabyte costs nothing.
        bytes_(static_cast<unsigned char*>(std::calloc(size, 1)), &std::free) {
    socket.register_b_transport(this, &SimpleMemory::b_transport);
  }

private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t at = payload.get_address();
    const std::uint64_t length = payload.get_data_length();
    if (bytes_ == nullptr || at >= size_ || length > size_ - at) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (payload.get_byte_enable_ptr() != nullptr || payload.get_streaming_width() < length) {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    if (payload.is_read())
      std::memcpy(payload.get_data_ptr(), bytes_.get() + at, length);
    else if (payload.is_write())
      std::memcpy(bytes_.get() + at, payload.get_data_ptr(), length);

    const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
    const double seconds = static_cast<double>(length) / bytes_per_second_;
    free_at_ = std::max(free_at_, now) + sc_core::sc_time(seconds, sc_core::SC_SEC);
    delay += free_at_ - now + latency_;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::uint64_t size_;
  sc_core::sc_time latency_;
  double bytes_per_second_;
  sc_core::sc_time free_at_ = sc_core::SC_ZERO_TIME;
  std::unique_ptr<unsigned char[], decltype(&std::free)> bytes_;
};
