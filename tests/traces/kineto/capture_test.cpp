#include "tests/support/shared_data.h"
#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace umf;
using test::document;
using test::event;
using test::inputs;
using test::kernel;
using test::Program;

namespace {

/// A file that is gone at the end of the case.
class File {
public:
  explicit File(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              std::to_string(std::hash<std::string>()(text)).append("-capture.json")) {
    std::ofstream(path_) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// What a graph's capture leaves: operators and launches that name their kernel, and no
/// kernel that ran.
std::string capture(const std::vector<std::pair<std::string, std::string>>& dims_and_kernels) {
  std::string events;
  int at = 10;
  for (const auto& [dims, name] : dims_and_kernels) {
    const auto time = [&](int offset) { return std::to_string(at + offset); };
    if (!events.empty()) events += ',';
    events += event("cpu_op", "aten::mm", time(0), "9",
                    inputs(dims, R"(["float","float"])", R"(,"Input Strides":[[16,1],[1,16]])"));
    events += ',';
    events += event("cuda_runtime", "hipLaunchKernel", time(1), "1",
                    R"("kernel":")" + name + R"(","grid":[4,1,1],"block":[64,1,1],"correlation":)" +
                        time(0));
    at += 10;
  }
  return document(events);
}

test::Drained with_shapes(const std::string& replay, const std::string& captured) {
  const File shapes(captured);
  traces::kineto::Options options;
  options.shapes_from = shapes.path();
  return test::drain(
      *traces::kineto::read_kineto(traces::io::Input::from_memory("replay", replay), options));
}

/// Kernels of one graph launch, each of 4 blocks of 64.
std::string replay(const std::vector<std::string>& names) {
  std::string events = event("cuda_runtime", "hipGraphLaunch", "1", "5", "\"correlation\":7");
  int at = 10;
  for (const auto& name : names) {
    events += ',';
    events +=
        kernel(name, std::to_string(at), "1", R"("correlation":7,"grid":[4,1,1],"block":[64,1,1])");
    at += 5;
  }
  return document(events);
}

} // namespace

TEST_CASE("the kernels of a graph's replay do what those of its capture did") {
  const auto records =
      with_shapes(replay({"gemm_a", "gemm_b", "other"}), capture({{"[[8,16],[16,32]]", "gemm_a"}}));
  const auto& kernels = records.kernels;
  REQUIRE(kernels.size() == 3); // what was only captured is no kernel here
  CHECK(kernels[0].rule == stream::Rule::captured);
  CHECK(kernels[0].launch == stream::Launch::graph);
  CHECK(kernels[0].flops == 2.0 * 8 * 16 * 32);
  REQUIRE(kernels[0].accesses.size() == 3);
  CHECK(kernels[0].accesses[1].length.count == 16 * 32 * 4);
  CHECK(kernels[0].accesses[1].rule == stream::Rule::captured);
  CHECK(kernels[1].rule == stream::Rule::unknown);
  CHECK(records.oddities.at("no-captured-shapes").count == 2); // gemm_b and other
}

TEST_CASE("kernels alike take their shapes in the order of the capture") {
  const auto records =
      with_shapes(replay({"gemm", "gemm", "gemm", "gemm"}),
                  capture({{"[[8,16],[16,32]]", "gemm"}, {"[[8,16],[16,64]]", "gemm"}}));
  std::vector<double> flops;
  for (const auto& one : records.kernels)
    flops.push_back(one.flops);
  const double narrow = 2.0 * 8 * 16 * 32;
  CHECK(flops == std::vector<double>{narrow, 2 * narrow, narrow, 2 * narrow});
}

TEST_CASE("a replay without grids goes by names and their order") {
  const auto events =
      event("cuda_runtime", "hipGraphLaunch", "1", "5", "\"correlation\":7").append(",") +
      kernel("gemm", "10", "1", "\"correlation\":7").append(",") +
      kernel("gemm", "15", "1", "\"correlation\":7");
  const auto records = with_shapes(
      document(events), capture({{"[[8,16],[16,32]]", "gemm"}, {"[[8,16],[16,64]]", "gemm"}}));
  CHECK(records.kernels.at(0).flops == 2.0 * 8 * 16 * 32);
  CHECK(records.kernels.at(1).flops == 2.0 * 8 * 16 * 64);
}

TEST_CASE("an eager run gives shapes too and what a trace knows itself stays") {
  const auto args = inputs("[[8,4]]", R"(["float"])");
  const auto eager = Program().launch("aten::exp", args, "vectorized_elementwise_kernel", 3).text();
  const auto own = Program()
                       .launch("aten::exp", inputs("[[2,4]]", R"(["float"])"),
                               "vectorized_elementwise_kernel", 3)
                       .bare("vectorized_elementwise_kernel", 3)
                       .text();
  const auto bare = Program().bare("vectorized_elementwise_kernel", 3).text();
  const auto filled = with_shapes(bare, eager).kernels.at(0);
  CHECK(filled.rule == stream::Rule::captured);
  CHECK(filled.accesses.at(0).length.count == 8 * 4 * 4);
  CHECK(with_shapes(own, eager).kernels.at(1).rule == stream::Rule::matched);
}

TEST_CASE("a capture that is no trace is refused") {
  CHECK_THROWS_AS(with_shapes(replay({"gemm"}), "{\"a\":1}"), UserError);
}

TEST_CASE("a decode step of Qwen3-8B finds its shapes in the trace of its capture") {
  const auto decode = test::shared_file(
      "data/traces/kineto/inference_sglang_decode_sglang_Qwen3-8B_decode.json.gz");
  const auto shapes = test::shared_file(
      "data/traces/kineto/inference_sglang_decode_capture_traces_bs_32_rank0.json.gz");
  if (!decode || !shapes) return;
  const auto records = test::drain(*traces::kineto::open_kineto(*decode, *shapes));
  int kernels = 0;
  Bytes weights{};
  for (const auto& one : records.kernels)
    kernels += one.rule == stream::Rule::captured ? 1 : 0;
  for (const auto& tensor : records.tensors)
    if (tensor.role == stream::Role::weight) weights += tensor.bytes;
  // Of each of 36 layers: 4 matrix multiplications, 4 norms (2 of them of queries and keys), 2
  // copies, rotary embedding, the store of keys and values, gated activation; besides the last
  // norm, the embedding, the language head and its result made f32. Attention (2 kernels a layer)
  // reads a cache of unrecorded length.
  CHECK(kernels == 36 * 13 + 4);
  // 36 × (4096·(6144 + 4096 + 2·12288) + 12288·4096) + two tables of 151936 × 4096, and norms of
  // 36 × (2·4096 + 2·128) + 4096, in bf16.
  const std::uint64_t layer = 4096ull * (6144 + 4096 + 2 * 12288) + 12288ull * 4096;
  CHECK(weights.count == 2 * (36 * (layer + 2 * 4096 + 2 * 128) + 2ull * 151936 * 4096 + 4096));
}
