#pragma once

#include "model/base/keys.h"
#include "model/stream/records.h"

namespace umf::hw {

/// Two partitions of slices behind a crossbar; write-back, full-line writes fetch nothing.
struct L2Config {
  Bytes capacity = 50_MiB;
  std::uint32_t slices = 80;
  BytesPerClock slice_bandwidth{64};
  BytesPerClock crossbar_bandwidth{4014};
  Bytes sector{32};
  Bytes interleave = 64_KiB;
  double dirty_limit = 0.5;
  Femtoseconds near_latency = 151_ns;
  Femtoseconds far_latency = 271_ns;
  Femtoseconds miss_latency = 69_ns;
  std::uint32_t ways = 16;
  double fill_use = 1.0;
  double store_use = 1.0;
};

/// An SM's first-level cache. At burst resolution no access is looked up in it.
struct L1Config {
  Bytes capacity = 256_KiB;
  Femtoseconds latency{19'430'000};
  std::uint32_t ways = 4;
};

/// What putting a kernel on the device costs before it runs, by kind of launch.
struct LaunchConfig {
  Femtoseconds eager = 1248_ns;
  Femtoseconds graph = 600_ns;
  Femtoseconds programmatic = 200_ns;
  Femtoseconds kernel_overhead = 521_ns;
};

Femtoseconds cost_of(const LaunchConfig& config, stream::Launch launch);

/// Dense peaks without sparsity, all SMs at `clock`.
struct ComputeConfig {
  FlopsPerSecond f64{67e12};
  FlopsPerSecond f32{67e12};
  FlopsPerSecond tf32{494.7e12};
  FlopsPerSecond f16{989.4e12};
  FlopsPerSecond bf16{989.4e12};
  FlopsPerSecond f8{1978.9e12};
  FlopsPerSecond i8{1978.9e12};
  double efficiency = 0.8;
  std::uint32_t overlap_tiles = 16;
  Bytes least_tile = 256_KiB;
  std::uint32_t ranges_at_once = 8;
};

struct CopyEngineConfig {
  BytesPerSecond bandwidth{450e9};
  Bytes bytes_in_flight = 1_MiB;
  Femtoseconds setup = 1000_ns;
};

/// What work on the die costs in energy. Rates of arithmetic have a figure each.
struct GpuEnergyConfig {
  Watts idle_power{80};
  PicojoulesPerBit l2{3.0};
  PicojoulesPerFlop f64{11.6};
  PicojoulesPerFlop f32{11.6};
  PicojoulesPerFlop tf32{1.57};
  PicojoulesPerFlop f16{0.78};
  PicojoulesPerFlop bf16{0.78};
  PicojoulesPerFlop f8{0.39};
  PicojoulesPerFlop i8{0.39};
};

/// T10: SMs as a window of bytes in flight beside a compute rate.
struct GpuConfig {
  std::uint32_t sms = 132;
  Hertz clock{1.755e9};
  std::uint32_t threads_per_sm = 2048;
  std::uint32_t blocks_per_sm = 32;
  std::uint32_t registers_per_sm = 65536;
  Bytes shared_memory_per_sm = 228_KiB;
  Bytes bytes_in_flight_per_thread{16};
  Bytes bytes_in_flight_per_sm = 64_KiB;
  Femtoseconds block_turnover = 233_ns;
  Femtoseconds warp_start{3'000'000};
  Femtoseconds store_issue = 23_ns;
  L1Config l1;
  L2Config l2;
  LaunchConfig launch;
  ComputeConfig compute;
  CopyEngineConfig copy_engine;
  GpuEnergyConfig energy;
};

const Component<GpuConfig>& gpu_component();
FlopsPerSecond peak_of(const ComputeConfig& config, stream::DType dtype);
PicojoulesPerFlop energy_of(const GpuEnergyConfig& config, stream::DType dtype);

} // namespace umf::hw
