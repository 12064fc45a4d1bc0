#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Write-backs are about data, not about the operation that evicts it.
namespace umf::test {

namespace {
/// Many kernels that each store tensors which lie side by side in the address space.
std::vector<stream::Record> neighbours() {
  std::vector<stream::Record> records;
  for (stream::TensorId t = 1; t <= 64; ++t)
    records.push_back(tensor(t, Bytes{3 * 64 * 1024}));
  for (stream::KernelId k = 1; k <= 64; ++k)
    records.push_back(kernel(k, {writes(static_cast<stream::TensorId>(k), Bytes{3 * 64 * 1024})}));
  records.push_back(tensor(65, 16_MiB));
  records.push_back(kernel(65, {writes(65, 16_MiB)}));
  return records;
}
} // namespace

TEST_CASE("a write-back may span tensors that lie side by side") {
  const Outcome run = replay(
      machine(R"({"gpu": {"l2": {"capacity": "24MiB", "dirty_limit": 0.7}}})"), neighbours());
  CHECK(run.platform->gpu(0).l2().statistics().written_back > 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a tensor may be freed while its write-backs wait for their turn") {
  // 1 dirties half the L2. 2 drives that out, on another stream: 16.8 µs of write-backs, a few
  // pieces at a time. 3 is quick, and after it (7.7 µs) the first tensor is dead.
  std::vector<stream::Record> records = {tensor(1, 16_MiB),
                                         tensor(2, 32_MiB),
                                         kernel(1, {writes(1, 16_MiB)}, 0, {0, 1}),
                                         kernel(2, {writes(2, 32_MiB)}, 0, {0, 2}),
                                         kernel(3, {reads(1, Bytes{32})}, 0, {0, 1}),
                                         stream::Free{1}};
  const Outcome run = replay(machine(), records);
  CHECK(run.rows.size() == 3);
  const auto& unit = run.platform->scheduler(0).statistics();
  CHECK(unit.dead_writes > 0);
  CHECK(run.platform->gpu(0).l2().statistics().written_back == unit.write_backs + unit.dead_writes);
}

} // namespace umf::test
