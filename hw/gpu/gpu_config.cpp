#include "hw/gpu/gpu_config.h"

namespace umf::hw {

namespace {

const Component<L2Config>& l2_component() {
  static const auto keys =
      Component<L2Config>("gpu.l2", "The second-level cache.")
          .key("capacity", &L2Config::capacity,
               {.help = "Size, both partitions; 0B passes everything through.",
                .max = 4_GiB,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100: 50 MB"})
          .key("slices", &L2Config::slices,
               {.help = "Slices of both partitions.",
                .min = 1,
                .max = 1024,
                .from = Provenance::derived,
                .source = "two partitions of 40, as on the A100 (5120 B a clock)"})
          .key("slice_bandwidth", &L2Config::slice_bandwidth,
               {.help = "Bytes a slice delivers or takes in a clock.",
                .min = BytesPerClock{1},
                .from = Provenance::datasheet,
                .source = "NVIDIA A100 white paper: 64 B a clock and slice"})
          .key("crossbar_bandwidth", &L2Config::crossbar_bandwidth,
               {.help = "Bytes a clock between all SMs and all slices; the smaller of this and the "
                        "slices' sum holds.",
                .min = BytesPerClock{1},
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-l2-cache, H100 PCIe: 7044 GB/s at 1.755 GHz"})
          .key("sector", &L2Config::sector,
               {.help = "Unit of fills and write-backs; it divides a page.",
                .min = Bytes{1},
                .max = Bytes{4096},
                .from = Provenance::standard,
                .source = "CUDA: 32 B sectors"})
          .key("interleave", &L2Config::interleave,
               {.help = "Operands of a kernel that do not fit into an eighth of the L2 together "
                        "are swept side by side, each in steps of so much at least: a smaller one "
                        "is read before, or written behind, what streams past it.",
                .min = Bytes{32},
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "assumed: a page; thread blocks read their small operands first and "
                          "write their results last"})
          .key("dirty_limit", &L2Config::dirty_limit,
               {.help = "Share of the L2 that may be dirty before the oldest dirty data is written "
                        "back.",
                .min = 0.0,
                .max = 1.0,
                .from = Provenance::measured,
                .source = "A100, 4,237 ReLU kernels: 19.0–21.2 MB of 40 MB stay dirty"})
          .key("near_latency", &L2Config::near_latency,
               {.help = "Unloaded hit in the SM's own partition (boundary: sm).",
                .min = Femtoseconds{0},
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-latency, H100 PCIe: 265.5 cycles (HW007)"})
          .key("far_latency", &L2Config::far_latency,
               {.help = "Unloaded hit in the other partition (boundary: sm).",
                .min = Femtoseconds{0},
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-latency, H100 PCIe: 475 cycles (HW008)"})
          .key("miss_latency", &L2Config::miss_latency,
               {.help = "Added by a miss between the L2 and the tier's port, both ways (boundary: "
                        "l2_miss).",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source =
                    "H100 load-to-use 375 ns (HW009) less the mean hit of 211 ns and 95 ns of "
                    "media"})
          .key("ways", &L2Config::ways,
               {.help = "Lines of a set, at line resolution.",
                .min = 1,
                .max = 256,
                .from = Provenance::derived,
                .source = "assumed: NVIDIA publishes none; 16 is common"})
          .key("fill_use", &L2Config::fill_use,
               {.help = "What a byte that a read misses costs slices and crossbar, in bytes of a "
                        "hit: it is written into the L2 before it is read.",
                .min = 1.0,
                .max = 16.0,
                .from = Provenance::derived,
                .source = "not known: as a hit"})
          .key("store_use", &L2Config::store_use,
               {.help = "The same of a byte stored.",
                .min = 0.1,
                .max = 16.0,
                .from = Provenance::derived,
                .source = "not known: as a hit"});
  return keys;
}

const Component<L1Config>& l1_component() {
  static const auto keys =
      Component<L1Config>("gpu.l1", "The first-level cache of an SM, at line resolution.")
          .key("capacity", &L1Config::capacity,
               {.help = "Size, without shared memory taken off.",
                .min = Bytes{64},
                .max = 1_GiB,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100: 256 KB"})
          .key("latency", &L1Config::latency,
               {.help = "Unloaded hit (boundary: sm).",
                .min = Femtoseconds{0},
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-latency, H100 PCIe: 34.1 cycles (HW006)"})
          .key("ways", &L1Config::ways,
               {.help = "Lines of a set.",
                .min = 1,
                .max = 256,
                .from = Provenance::derived,
                .source = "assumed: NVIDIA publishes none"});
  return keys;
}

const Component<LaunchConfig>& launch_component() {
  static const auto keys =
      Component<LaunchConfig>("gpu.launch", "Cost of launches.")
          .key(
              "eager", &LaunchConfig::eager,
              {.help = "From the stream's predecessor done to the kernel resident, ordinary launch "
                       "already queued.",
               .min = Femtoseconds{0},
               .from = Provenance::measured,
               .source = "H100, GindaChen/nsys-ai h100_2gpu_1s: median gap of 1,626 kernels queued "
                         "behind a predecessor"})
          .key("graph", &LaunchConfig::graph,
               {.help = "The same for a node of a CUDA graph.",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source = "assumed between eager and programmatic"})
          .key("programmatic", &LaunchConfig::programmatic,
               {.help = "The same for programmatic dependent launch.",
                .min = Femtoseconds{0},
                .from = Provenance::derived,
                .source = "assumed: prologue hidden behind the predecessor"})
          .key("kernel_overhead", &LaunchConfig::kernel_overhead,
               {.help = "Start-up and drain inside every kernel's own duration: block dispatch, "
                        "first fetches, final flush.",
                .min = Femtoseconds{0},
                .from = Provenance::measured,
                .source =
                    "H100, GindaChen/nsys-ai h100_2gpu_1s: shortest kernel 896 ns less 375 ns of "
                    "load-to-use"});
  return keys;
}

const Component<ComputeConfig>& compute_component() {
  const auto peak = [](const char* what) {
    KeyOptions<FlopsPerSecond> options;
    options.help = what;
    options.min = FlopsPerSecond{1e6};
    options.from = Provenance::datasheet;
    options.source = "NVIDIA H100 SXM5 data sheet, dense";
    return options;
  };
  static const auto keys =
      Component<ComputeConfig>("gpu.compute", "Arithmetic rates.")
          .key("f64", &ComputeConfig::f64, peak("Double precision, tensor cores."))
          .key("f32", &ComputeConfig::f32, peak("Single precision, CUDA cores."))
          .key("tf32", &ComputeConfig::tf32, peak("TF32, tensor cores."))
          .key("f16", &ComputeConfig::f16, peak("FP16, tensor cores."))
          .key("bf16", &ComputeConfig::bf16, peak("BF16, tensor cores."))
          .key("f8", &ComputeConfig::f8, peak("FP8, tensor cores."))
          .key("i8", &ComputeConfig::i8, peak("INT8, tensor cores."))
          .key("efficiency", &ComputeConfig::efficiency,
               {.help = "Share of the peak that large matrix multiplies reach.",
                .min = 0.01,
                .max = 1.0,
                .from = Provenance::derived,
                .source = "assumed until calibrated on a device: power and clock limits"})
          .key("overlap_tiles", &ComputeConfig::overlap_tiles,
               {.help =
                    "Least number of pieces a kernel's data arrives in; compute of one overlaps "
                    "the transfer of the next.",
                .min = 1,
                .max = 4096,
                .from = Provenance::derived,
                .source = "software pipelines of matrix kernels: tens of K-steps"})
          .key("least_tile", &ComputeConfig::least_tile,
               {.help = "No piece of a kernel's data is smaller, however small the kernel.",
                .min = Bytes{1},
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "a K-step of 64 of eight thread blocks of 128 x 128 in BF16: 8 x 32 KiB"})
          .key("ranges_at_once", &ComputeConfig::ranges_at_once,
               {.help = "Accesses of a kernel under way at a time; those of a kernel with more "
                        "follow one another, as its thread blocks do.",
                .min = 1,
                .max = 65536,
                .from = Provenance::derived,
                .source = "assumed: blocks of that many sequences or experts are resident at once; "
                          "of 4 to 32 a "
                          "served trace's latencies differ by 1 %"});
  return keys;
}

const Component<CopyEngineConfig>& copy_engine_component() {
  static const auto keys =
      Component<CopyEngineConfig>("gpu.copy_engine", "The DMA engines behind cudaMemcpy.")
          .key("bandwidth", &CopyEngineConfig::bandwidth,
               {.help = "Most bytes a second that the engines move, either direction.",
                .min = BytesPerSecond{1e6},
                .from = Provenance::derived,
                .source = "above every link it feeds: NVLink4 450 GB/s one way"})
          .key("bytes_in_flight", &CopyEngineConfig::bytes_in_flight,
               {.help = "Bytes the engines keep outstanding.",
                .min = Bytes{64},
                .from = Provenance::derived,
                .source = "covers 450 GB/s over 2 µs"})
          .key("setup", &CopyEngineConfig::setup,
               {.help = "Fixed time of one copy inside its own duration.",
                .min = Femtoseconds{0},
                .from = Provenance::measured,
                .source = "Kineto traces: shortest copies of 1–2 µs"});
  return keys;
}

const Component<GpuEnergyConfig>& gpu_energy_component() {
  const auto arithmetic = [](const char* what) {
    KeyOptions<PicojoulesPerFlop> options;
    options.help = what;
    options.min = PicojoulesPerFlop{0};
    options.max = PicojoulesPerFlop{1e6};
    options.from = Provenance::derived;
    options.source = "upper bound: H100 SXM5 board power 700 W less 80 W idle, at 80 % of its peak";
    return options;
  };
  static const auto keys =
      Component<GpuEnergyConfig>("gpu.energy", "Energy of work on the die, and what idling draws.")
          .key("idle_power", &GpuEnergyConfig::idle_power,
               {.help = "Drawn by the GPU's board whatever runs, its HBM's refresh included.",
                .min = Watts{0},
                .max = Watts{100000},
                .from = Provenance::derived,
                .source = "taken over from H200 SXM boards, measured idle: 80.3 W (one attested "
                          "benchmark), 73.7 W (nvidia-smi)"})
          .key("l2", &GpuEnergyConfig::l2,
               {.help =
                    "A bit between an SM and the L2, either way: wires across the die and array.",
                .min = PicojoulesPerBit{0},
                .max = PicojoulesPerBit{1000},
                .from = Provenance::derived,
                .source = "0.2 pJ per bit and mm and 0.2 pJ per bit of SRAM (28 nm budget, BMC "
                          "Bioinformatics 2018, table 7) over 14 mm, half an 814 mm² die's side"})
          .key("f64", &GpuEnergyConfig::f64,
               arithmetic("A double-precision operation, operand delivery included."))
          .key("f32", &GpuEnergyConfig::f32, arithmetic("The same in single precision."))
          .key("tf32", &GpuEnergyConfig::tf32, arithmetic("The same in TF32."))
          .key("f16", &GpuEnergyConfig::f16, arithmetic("The same in FP16."))
          .key("bf16", &GpuEnergyConfig::bf16, arithmetic("The same in BF16."))
          .key("f8", &GpuEnergyConfig::f8, arithmetic("The same in FP8."))
          .key("i8", &GpuEnergyConfig::i8, arithmetic("The same in INT8."));
  return keys;
}

/// Which of a config's figures a type of number takes; those without one take single precision.
template <class Config>
auto figure_of(const Config& config, stream::DType dtype) {
  using stream::DType;
  switch (dtype) {
  case DType::f64:
  case DType::c128:
    return config.f64;
  case DType::tf32:
    return config.tf32;
  case DType::f16:
    return config.f16;
  case DType::bf16:
    return config.bf16;
  case DType::f8:
    return config.f8;
  case DType::i8:
  case DType::u8:
  case DType::i4:
    return config.i8;
  default:
    return config.f32;
  }
}

} // namespace

const Component<GpuConfig>& gpu_component() {
  static const auto keys =
      Component<GpuConfig>("gpu", "A GPU die: SMs, L2, launch, copy engines.")
          .key("sms", &GpuConfig::sms,
               {.help = "Streaming multiprocessors (compute units).",
                .min = 1,
                .max = 4096,
                .from = Provenance::datasheet,
                .source = "NVIDIA H100 SXM5: 132"})
          .key("clock", &GpuConfig::clock,
               {.help = "Clock of SMs and L2.",
                .min = Hertz{1e6},
                .max = Hertz{1e11},
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches, H100: 1.755 GHz"})
          .key("threads_per_sm", &GpuConfig::threads_per_sm,
               {.help = "Resident threads of an SM.",
                .min = 32,
                .max = 65536,
                .from = Provenance::standard,
                .source = "CUDA compute capability 9.0"})
          .key("blocks_per_sm", &GpuConfig::blocks_per_sm,
               {.help = "Resident blocks of an SM.",
                .min = 1,
                .max = 1024,
                .from = Provenance::standard,
                .source = "CUDA compute capability 9.0"})
          .key("registers_per_sm", &GpuConfig::registers_per_sm,
               {.help = "32-bit registers of an SM; they limit resident blocks.",
                .min = 1024,
                .max = 16'777'216,
                .from = Provenance::standard,
                .source = "CUDA compute capability 9.0"})
          .key("shared_memory_per_sm", &GpuConfig::shared_memory_per_sm,
               {.help = "Shared memory of an SM; it limits resident blocks.",
                .min = Bytes{1024},
                .max = 1_GiB,
                .from = Provenance::standard,
                .source = "CUDA compute capability 9.0"})
          .key("bytes_in_flight_per_thread", &GpuConfig::bytes_in_flight_per_thread,
               {.help = "Loads a thread keeps outstanding, unless its kernel fills shared memory "
                        "asynchronously.",
                .min = Bytes{1},
                .max = Bytes{4096},
                .from = Provenance::derived,
                .source = "one 128-bit load"})
          .key("bytes_in_flight_per_sm", &GpuConfig::bytes_in_flight_per_sm,
               {.help = "Most bytes an SM keeps outstanding.",
                .min = Bytes{32},
                .max = 1_GiB,
                .from = Provenance::derived,
                .source = "assumed: covers 14 TB/s over all SMs at 600 ns"})
          .key("block_turnover", &GpuConfig::block_turnover,
               {.help =
                    "From a block's end to its successor's first loads; part of the time a byte "
                    "in flight holds the window when blocks turn over.",
                .min = Femtoseconds{0},
                .max = 1000000_ns,
                .from = Provenance::measured,
                .source =
                    "te42kyfo/gpu-benches gpu-stream, H100 PCIe: 7296 threads × 8 B at 96 GB/s "
                    "take 608 ns, less 375 ns load-to-use"})
          .key("warp_start", &GpuConfig::warp_start,
               {.help = "From one warp of a block to the next; a block turns over with its last.",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-stream, H100 PCIe, init: a block's life grows "
                          "from 256 ns at 1 warp to 277 ns at 8"})
          .key("store_issue", &GpuConfig::store_issue,
               {.help = "A store holds its thread so long.",
                .min = Femtoseconds{0},
                .max = 10000_ns,
                .from = Provenance::measured,
                .source = "te42kyfo/gpu-benches gpu-stream, H100 PCIe, init at block size 32: 7296 "
                          "threads × 8 B at 228 GB/s take 256 ns, less 233 ns of turnover"})
          .group("l1", &GpuConfig::l1, l1_component())
          .group("l2", &GpuConfig::l2, l2_component())
          .group("launch", &GpuConfig::launch, launch_component())
          .group("compute", &GpuConfig::compute, compute_component())
          .group("copy_engine", &GpuConfig::copy_engine, copy_engine_component())
          .group("energy", &GpuConfig::energy, gpu_energy_component());
  return keys;
}

Femtoseconds cost_of(const LaunchConfig& config, stream::Launch launch) {
  switch (launch) {
  case stream::Launch::eager:
    return config.eager;
  case stream::Launch::graph:
    return config.graph;
  case stream::Launch::programmatic:
    return config.programmatic;
  }
  return config.eager;
}

FlopsPerSecond peak_of(const ComputeConfig& config, stream::DType dtype) {
  return figure_of(config, dtype);
}

PicojoulesPerFlop energy_of(const GpuEnergyConfig& config, stream::DType dtype) {
  return figure_of(config, dtype);
}

} // namespace umf::hw
