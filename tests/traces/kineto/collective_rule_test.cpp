#include "tests/traces/kineto/program.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::document;
using test::inputs;
using test::kernel;
using test::Program;
using test::read;

namespace {

/// A kernel that says which collective it is, as NCCL's do since 2023.
stream::Kernel collective(const std::string& name, const std::string& type, int in, int out) {
  const auto args = R"("Collective name":")" + name + R"(","dtype":")" + type +
                    R"(","In msg nelems":)" + std::to_string(in) + R"(,"Out msg nelems":)" +
                    std::to_string(out) + R"(,"Group size":8)";
  return read(document(kernel("ncclDevKernel", "1", "5", args))).records.kernels.at(0);
}

} // namespace

TEST_CASE("an all-gather reads its shard and writes the whole") {
  // Verbatim figures of the B200 trace: 25136 elements of each of 8 ranks.
  const auto gathered = collective("_allgather_base", "BFloat16", 25136, 201088);
  CHECK(gathered.rule == stream::Rule::collective);
  REQUIRE(gathered.accesses.size() == 2);
  CHECK(gathered.accesses[0].length.count == 25136 * 2);
  CHECK(gathered.accesses[1].length.count == 201088 * 2);
  CHECK(gathered.accesses[1].write);
  const auto scattered = collective("_reduce_scatter_base", "BFloat16", 201088, 25136);
  CHECK(scattered.accesses.at(0).length.count == 201088 * 2);
  CHECK(scattered.accesses.at(1).length.count == 25136 * 2);
}

TEST_CASE("an all-reduce reads and rewrites one tensor") {
  // Verbatim figures of the two-GPU training trace.
  const auto reduced = collective("allreduce", "Float", 6637568, 6637568);
  REQUIRE(reduced.accesses.size() == 2);
  CHECK(reduced.accesses[0].tensor == reduced.accesses[1].tensor);
  CHECK(reduced.accesses[1].write);
  CHECK(reduced.accesses[1].length.count == 6637568ull * 4);
}

TEST_CASE("a broadcast is written and a send is read") {
  CHECK(collective("broadcast", "Float", 10, 10).accesses.at(0).write);
  CHECK(collective("broadcast", "Float", 10, 10).accesses.size() == 1);
  CHECK_FALSE(collective("send", "Float", 10, 10).accesses.at(0).write);
}

TEST_CASE("collectives of unknown name or type give no bytes") {
  CHECK(collective("barter", "Float", 10, 10).rule == stream::Rule::unknown);
  CHECK(collective("allreduce", "Quaternion", 10, 10).rule == stream::Rule::unknown);
}

TEST_CASE("the operator's tensors serve where the kernel says nothing") {
  const auto records =
      Program()
          .launch("c10d::_allgather_base_",
                  inputs("[[64],[16],[]]", R"(["signed char","signed char",""])"), "ncclKernel")
          .launch("symm_mem::multimem_all_reduce_", inputs("[[100],[],[]]", R"(["float"])"),
                  "multimem_all_reduce_kernel")
          .records();
  CHECK(records.kernels.at(0).accesses.at(0).length.count == 16);
  CHECK(records.kernels.at(0).accesses.at(1).length.count == 64);
  CHECK(records.kernels.at(1).accesses.at(0).length.count == 100 * 4);
}
