#include "tests/traces/generate/stream_check.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::test;
using namespace umf::traces::generate;
using Catch::Contains;

namespace {

GenerateOptions sound() {
  return options_of("llama-3-8b", "decode", 1000, 1, 1);
}

} // namespace

TEST_CASE("what a model cannot do is refused") {
  auto options = sound();
  options.step.tp = 5;
  CHECK_THROWS_WITH(Generator(options), Contains("does not divide its 32 heads"));
  options = sound();
  options.context = 131'072; // and one step more
  CHECK_THROWS_WITH(Generator(options), Contains("131073 tokens") && Contains("131072"));
  options.beyond_context = true;
  CHECK_NOTHROW(Generator(options));
  options.context = 0;
  CHECK_THROWS_WITH(Generator(options), Contains("--context: 0"));
  options = sound();
  options.step.lora_rank = 8;
  CHECK_THROWS_WITH(Generator(options), Contains("expected --lora-adapters"));
  options = sound();
  options.batch = 0;
  CHECK_THROWS_WITH(Generator(options), Contains("--batch: 0"));
  options = sound();
  options.chunk = 10;
  CHECK_THROWS_WITH(Generator(options), Contains("--chunk") && Contains("prefill"));
  options.phase = stream::Phase::prefill;
  options.step.reclaim = true;
  CHECK_THROWS_WITH(Generator(options), Contains("--reclaim: llama-3-8b has no sliding window"));
  options.step.reclaim = false;
  options.chunk = 1001;
  CHECK_THROWS_WITH(Generator(options), Contains("--chunk: 1001"));
}
