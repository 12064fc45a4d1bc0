#include "hw/link/measure.h"

namespace umf::hw::link {

Measured measure(const PathConfig& config, const Measure& how) {
  Path path(config);
  Drive drive_how;
  drive_how.warm_up = 0.2;
  const auto add = [&](std::uint32_t writes, std::uint32_t period) {
    Load load = path.load(false, how.size, how.outstanding, how.transactions);
    load.writes = writes;
    load.period = period;
    load.footprint = how.footprint;
    load.stride = how.stride;
    load.random = how.random;
    load.rate = how.rate;
    for (const NodeId requester : path.requesters) {
      load.from = requester;
      drive_how.loads.push_back(load);
    }
  };
  if (how.duplex) {
    add(0, 1);
    add(1, 1);
  } else {
    add(how.writes, how.period);
  }
  const Driven driven = drive(path.network, drive_how);
  Measured measured;
  measured.limit = driven.limit;
  for (const Loaded& loaded : driven.loads) {
    measured.reads.value += loaded.read_rate.value;
    measured.writes.value += loaded.write_rate.value;
    if (loaded.reads > 0) measured.read_nanoseconds = loaded.read_port.mean() / 1e3;
    if (loaded.writes > 0) measured.write_nanoseconds = loaded.write_port.mean() / 1e3;
  }
  return measured;
}

Shared beside(const PathConfig& config, const Beside& how) {
  Shared shared;
  for (const bool together : {false, true}) {
    Path path(config);
    Drive drive_how;
    drive_how.warm_up = 0.2;
    Load lines = path.load(how.write, Bytes{64}, how.lines, 4000);
    lines.random = true;
    drive_how.loads = {lines};
    if (together) {
      Load blocks = path.load(how.write, how.block, how.blocks, 4000);
      blocks.from = path.requesters.back();
      blocks.random = true;
      drive_how.loads.push_back(blocks);
    }
    const Driven driven = drive(path.network, drive_how);
    const Loaded& of_lines = driven.loads[0];
    const double mean =
        (how.write ? of_lines.write_engine.mean() : of_lines.read_engine.mean()) / 1e3;
    const BytesPerSecond rate = how.write ? of_lines.write_rate : of_lines.read_rate;
    (together ? shared.nanoseconds : shared.alone_nanoseconds) = mean;
    (together ? shared.lines : shared.alone) = rate;
    if (together)
      shared.blocks = how.write ? driven.loads[1].write_rate : driven.loads[1].read_rate;
  }
  return shared;
}

BytesPerSecond dma_rate(const PathConfig& path, bool write, Bytes size) {
  Measure how;
  how.size = size;
  how.stride = {(size.count + 63) / 64 * 64};
  how.footprint = Bytes{8192};
  how.random = true;
  how.writes = write ? 1 : 0;
  how.transactions = 20'000;
  return measure(path, how).both();
}

double unloaded_read(const PathConfig& path) {
  Measure how;
  how.size = Bytes{64};
  how.outstanding = 1;
  how.transactions = 3000;
  how.rate = BytesPerSecond{53e6};
  return measure(path, how).read_nanoseconds;
}

} // namespace umf::hw::link
