#include "tests/traces/generate/stream_check.h"

#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <fmt/format.h>

using namespace umf;
using namespace umf::test;

namespace {

std::string fault_of(const Stream& stream) {
  for (const stream::Kernel* kernel : stream.kernels) {
    if (kernel->grid[0] * kernel->grid[1] * kernel->grid[2] == 0 || kernel->block[0] == 0)
      return kernel->name + ": no blocks";
    for (const stream::Access& access : kernel->accesses) {
      const auto tensor = stream.tensors.find(access.tensor);
      if (tensor == stream.tensors.end()) return kernel->name + ": an undeclared tensor";
      const std::uint64_t size = tensor->second.bytes.count;
      std::uint64_t end = access.offset + access.length.count;
      for (const std::uint64_t block : access.indices)
        end = std::max(end, access.offset + (block + 1) * access.block_bytes.count);
      if (access.rule != stream::Rule::generated) return kernel->name + ": wrong rule";
      if (end > size || stream::moved_bytes(access).count == 0)
        return fmt::format("{}: bytes ..{} of {} of {}", kernel->name, end, size,
                           tensor->second.name);
    }
  }
  return {};
}

} // namespace

TEST_CASE("every access is inside its tensor, of every model and phase") {
  std::vector<std::string> names = shapes::shipped_model_names();
  names.push_back(source_file("tests/shapes/tiny.json").string());
  for (const std::string& name : names) {
    for (const char* phase : {"prefill", "decode"}) {
      for (const std::uint32_t tp : {1u, 4u}) {
        for (const std::uint64_t context : {1u, 700u}) {
          auto options = options_of(name, phase, context, 3, 2, "i4");
          if (name.ends_with("json")) options.step.weights = {};
          options.step.tp = name.starts_with("tests") ? 1 : tp;
          options.chunk = options.phase == stream::Phase::prefill ? (context + 1) / 2 : 0;
          CAPTURE(name, phase, tp, context);
          CHECK(fault_of(Stream(options)) == "");
        }
      }
    }
  }
}

TEST_CASE("every access is inside its tensor, whatever pages and experts are chosen") {
  for (const char* name : {"llama-3-8b", "deepseek-v2", "qwen3-30b-a3b"})
    for (const char* pages : {"sinks", "top-k"})
      for (const char* by_head : {"access.by_head=false", "access.by_head=true"}) {
        auto options = options_of(name, "decode", 3000, 2, 20, "i4");
        options.step.kv = shapes::parse_format("i4-g32-z", "format");
        options.access = pages;
        options.sets = {by_head, "access.reference=0.5"};
        options.routing = "expert-scattered";
        options.step.lora_rank = 64;
        options.step.lora_adapters = 3;
        CAPTURE(name, pages, by_head);
        CHECK(fault_of(Stream(options)) == "");
      }
}

TEST_CASE("a stream of a seed is the same each time, of another it is not") {
  auto options = options_of("qwen3-30b-a3b", "decode", 100, 4, 2);
  const auto touched = [&] {
    std::vector<stream::TensorId> ids;
    const Stream stream(options);
    for (const stream::Kernel* kernel : stream.kernels)
      for (const stream::Access& access : kernel->accesses)
        ids.push_back(access.tensor);
    return ids;
  };
  const auto first = touched();
  CHECK(touched() == first);
  options.step.seed = 2;
  CHECK(touched() != first);
}
