#include "tests/hw/link/bench_top.h"

#include <utility>

namespace umf::test {

using namespace hw::link;

Pair::Pair(const LinkOptions& link, const RequesterOptions& requester, const MemoryOptions& options,
           std::uint32_t links, std::uint64_t seed)
    : network(seed) {
  NodeOptions a, b;
  a.name = "asker";
  a.requester = requester;
  b.name = "memory";
  b.memory = options;
  asker = network.add(a);
  memory = network.add(b);
  for (std::uint32_t i = 0; i < links; ++i)
    network.connect(asker, memory, link);
}

Load Pair::load(bool write, std::uint64_t size, std::uint32_t outstanding,
                std::uint64_t transactions) const {
  Load load;
  load.from = asker;
  load.targets = {memory};
  load.size = {size};
  load.writes = write ? 1 : 0;
  load.outstanding = outstanding;
  load.transactions = transactions;
  return load;
}

Driven Pair::run(std::vector<Load> loads, double warm_up) {
  Drive how;
  how.loads = std::move(loads);
  how.warm_up = warm_up;
  return drive(network, how);
}

Femtoseconds Pair::alone(std::uint64_t address, std::uint32_t bytes, bool write) {
  network.submit({asker, memory, address, bytes, write, 0});
  network.advance_to_finish(kNever);
  const Finished finished = network.finished().at(0);
  network.finished().clear();
  while (network.next() < kNever)
    network.advance(network.next());
  network.prove_idle();
  return finished.done - finished.begun;
}

PcieConfig plain_pcie(std::uint32_t generation, std::uint32_t width) {
  PcieConfig config;
  config.generation = generation;
  config.width = width;
  config.skip_interval = 0;
  return config;
}

RequesterOptions cxl_master(std::uint32_t outstanding) {
  RequesterOptions options;
  options.max_payload = options.max_read_request = 64;
  options.tags = options.write_tags = outstanding;
  options.interleave = {256};
  return options;
}

MemoryOptions plain_memory(Femtoseconds latency) {
  MemoryOptions options;
  options.latency = latency;
  options.queue = 1 << 16;
  return options;
}

} // namespace umf::test
