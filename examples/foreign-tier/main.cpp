#include "app/program.h"
#include "examples/foreign-tier/simple_memory.h"
#include "hw/foreign/modules.h"

#include <memory>

/// `umfsim` with a memory of our own: scenarios may say "kind": "foreign" and name one of these
/// models (h100-foreign-hbm.json beside this file does).

namespace {

/// Times are made in the call: before, the kernel's resolution is not the simulator's yet.
umf::hw::MakeForeign memory(double latency_ns, double bytes_per_second) {
  return [=](const char* name, tlm::tlm_initiator_socket<>& socket) {
    constexpr std::uint64_t two_gibibytes = std::uint64_t{2} << 30;
    auto module = std::make_unique<SimpleMemory>(
        name, two_gibibytes, sc_core::sc_time(latency_ns, sc_core::SC_NS), bytes_per_second);
    socket.bind(module->socket);
    return module;
  };
}

} // namespace

int main(int argc, char** argv) {
  umf::hw::register_foreign_module("simple-memory", memory(100, 3.2e12));
  umf::hw::register_foreign_module("slow-memory", memory(600, 0.4e12));
  return umf::app::run_program(argc, argv);
}
