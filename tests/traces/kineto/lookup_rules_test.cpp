#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::inputs;
using test::Program;

namespace {

test::Drained run(const std::string& op, const std::string& args, const std::string& kernel) {
  return Program().launch(op, args, kernel).records();
}

} // namespace

TEST_CASE("an embedding touches the rows it looks up and not the whole table") {
  // Verbatim shapes of the H100 Qwen trace: 8944 of 151936 rows of 1024 in bf16.
  const auto records =
      run("aten::index_select",
          inputs("[[151936,1024],[],[8944]]", R"(["c10::BFloat16","Scalar","long int"])",
                 R"(,"Concrete Inputs":["","0",""])"),
          "indexSelectLargeIndex");
  const auto& kernel = records.kernels.at(0);
  CHECK(kernel.rule == stream::Rule::embedding);
  REQUIRE(kernel.accesses.size() == 3);
  CHECK(moved_bytes(kernel.accesses[0]).count == 8944 * 8); // 64-bit indices
  const auto& rows = kernel.accesses[1];
  CHECK(rows.pattern == stream::Pattern::gather);
  CHECK(rows.length.count == 151936ull * 1024 * 2);
  CHECK(moved_bytes(rows).count == 8944 * 1024 * 2);
  CHECK(records.tensors.at(rows.tensor).role == stream::Role::weight);
  CHECK(moved_bytes(kernel.accesses[2]).count == 8944 * 1024 * 2);
}

TEST_CASE("more indices than rows touch the whole table once") {
  const auto records = run("aten::embedding", inputs("[[10,4],[3,5]]", R"(["float","long int"])"),
                           "embedding_kernel");
  const auto& rows = records.kernels.at(0).accesses.at(1);
  CHECK(rows.pattern == stream::Pattern::sequential);
  CHECK(moved_bytes(rows).count == 10 * 4 * 4);
  CHECK(records.kernels.at(0).accesses.at(2).length.count == 3 * 5 * 4 * 4);
}

TEST_CASE("gather reads an element for each index and expanded indices once") {
  // Verbatim shapes of the B200 vllm trace: indices of 888 expanded by stride 0 to 888×2880.
  const auto records =
      run("aten::gather",
          inputs("[[25136,2880],[],[888,2880],[],[888,2880]]",
                 R"(["c10::BFloat16","Scalar","long int","Scalar","c10::BFloat16"])",
                 R"(,"Input Strides":[[2880,1],[],[1,0],[],[2880,1]])"),
          "vectorized_gather_kernel");
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 3);
  CHECK(moved_bytes(accesses[0]).count == 888 * 8);
  CHECK(moved_bytes(accesses[1]).count == 888 * 2880 * 2);
  CHECK(records.tensors.at(accesses[1].tensor).role == stream::Role::weight);
  CHECK(moved_bytes(accesses[2]).count == 888 * 2880 * 2);
}

TEST_CASE("storing new keys and values moves the new rows and no cache") {
  // Verbatim shapes of the B200 vllm trace: bf16 rows into a cache of bytes.
  const auto records =
      run("_C_cache_ops::reshape_and_cache_flash",
          inputs("[[888,1,64],[888,1,64],[4213816,16,1,64],[4213816,16,1,64],[888],[],[],[]]",
                 R"(["c10::BFloat16","c10::BFloat16","unsigned char","unsigned char","long int"])"),
          "reshape_and_cache_flash_kernel");
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 5);
  CHECK(accesses[0].length.count == 888 * 64 * 2);
  CHECK(accesses[2].length.count == 888 * 8);
  CHECK(accesses[3].length.count == 888 * 64);
  CHECK(accesses[4].write);
}

TEST_CASE("a reduction writes what the dimensions recorded leave") {
  const auto accesses = [](const std::string& op, const std::string& concrete) {
    return run(op,
               inputs("[[16,559,1024],[],[],[]]", R"(["float","ScalarList","Scalar",""])",
                      ",\"Concrete Inputs\":" + concrete),
               "reduce_kernel")
        .kernels.at(0)
        .accesses;
  };
  const auto mean = accesses("aten::mean", R"(["","[-1]","True",""])");
  REQUIRE(mean.size() == 2);
  CHECK(mean[0].rule == stream::Rule::reduction);
  CHECK(mean[0].length.count == 16 * 559 * 1024 * 4);
  CHECK(mean[1].length.count == 16 * 559 * 4);
  CHECK(accesses("aten::sum", R"(["","[0, 1]","False",""])").at(1).length.count == 1024 * 4);
  CHECK(accesses("aten::argmax", R"(["","2","False"])").at(1).length.count == 16 * 559 * 8);
  CHECK(accesses("aten::sum", R"(["","[]","False",""])").at(1).length.count == 4);
  const auto both = accesses("aten::max", R"(["","1","False"])");
  REQUIRE(both.size() == 3); // values and places
  CHECK(both[1].length.count == 16 * 1024 * 4);
  CHECK(both[2].length.count == 16 * 1024 * 8);
}

TEST_CASE("a reduction along dimensions not recorded is charged what it reads") {
  const auto accesses =
      run("aten::sum", inputs("[[32,1000],[],[],[]]", R"(["float","GenericList","Bool",""])"),
          "reduce_kernel")
          .kernels.at(0)
          .accesses;
  REQUIRE(accesses.size() == 1);
  CHECK(accesses[0].length.count == 32 * 1000 * 4);
}

TEST_CASE("scans keep their shape and sorts give places too") {
  const auto scan = run("aten::cumsum", inputs("[[32],[],[]]", R"(["int","Scalar",""])"), "scan");
  CHECK(scan.kernels.at(0).accesses.at(1).length.count == 32 * 8); // integers add up in 64 bits
  const auto top = run("aten::topk",
                       inputs("[[8,100],[],[],[],[]]", R"(["float","Scalar","Scalar"])",
                              R"(,"Concrete Inputs":["","5","-1","True","True"])"),
                       "topk");
  REQUIRE(top.kernels.at(0).accesses.size() == 3);
  CHECK(top.kernels.at(0).accesses[1].length.count == 8 * 5 * 4);
  CHECK(top.kernels.at(0).accesses[2].length.count == 8 * 5 * 8);
}

TEST_CASE("a rotary embedding turns queries and keys in place by a row for each token") {
  // Verbatim shapes of the sglang capture trace.
  const auto records = run(
      "sgl_kernel::rotary_embedding",
      inputs("[[32],[32,4096],[32,1024],[],[41216,128],[]]",
             R"(["long int","c10::BFloat16","c10::BFloat16","Scalar","c10::BFloat16","Scalar"])"),
      "rotary_embedding_kernel");
  const auto& accesses = records.kernels.at(0).accesses;
  REQUIRE(accesses.size() == 6);
  CHECK(moved_bytes(accesses[3]).count == 32 * 128 * 2);
  CHECK(accesses[4].tensor == accesses[1].tensor);
  CHECK(accesses[5].tensor == accesses[2].tensor);
  CHECK(accesses[5].write);
}
