#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

/// Several streams on one GPU, and the same run twice.
namespace umf::test {

using hw::Cause;
using F = Figures;

TEST_CASE("two kernels on two streams share HBM by halves") {
  const Outcome run = replay(machine(), {tensor(1, 64_MiB), tensor(2, 64_MiB),
                                         kernel(1, {reads(1, 64_MiB)}, 0, {0, 1}),
                                         kernel(2, {reads(2, 64_MiB)}, 0, {0, 2})});
  const Femtoseconds expected = F::start + time_of(2 * (64 << 20), F::hbm) + F::hbm_read;
  CHECK(distance(run[0].end, expected) <= kRounding);
  CHECK(distance(run[1].end, expected) <= kRounding);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a short kernel beside a long one gets its half and leaves the rest") {
  const Outcome run = replay(machine(), {tensor(1, 64_MiB), tensor(2, 16_MiB),
                                         kernel(1, {reads(1, 64_MiB)}, 0, {0, 1}),
                                         kernel(2, {reads(2, 16_MiB)}, 0, {0, 2})});
  // The short one has 1 MiB pieces, four in its window of 3.1 MiB against one of the long one:
  // a fifth for each flow. It ends at 5/4 of its own time; the long one at both times' sum.
  CHECK(distance(run[1].end, F::start + time_of(1.25 * (16 << 20), F::hbm) + F::hbm_read) < 100_ns);
  CHECK(distance(run[0].end, F::start + time_of((64 + 16) << 20, F::hbm) + F::hbm_read) <=
        kRounding);
}

TEST_CASE("tiny kernels are latency and launch") {
  const Outcome run = replay(machine(), {tensor(1, 1_MiB), kernel(1, {reads(1, Bytes{32})})});
  const auto& causes = run.platform->gpu(0).causes();
  CHECK(causes.of(Cause::launch) == F::start);
  CHECK(distance(run[0].end, F::start + F::hbm_read + time_of(32, F::hbm)) <= kRounding);
  CHECK(causes.of(Cause::hbm_bandwidth).seconds() < 1e-10);
  CHECK(distance(causes.of(Cause::hbm_latency), F::media) <= Femtoseconds{1});
}

namespace {

/// Rows and causes of a busy run as text, made in a process of its own.
std::string busy_run() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<stream::Record> records;
    for (stream::TensorId t = 1; t <= 12; ++t)
      records.push_back(tensor(t, Bytes{t * 3'000'001ull}));
    for (stream::KernelId k = 1; k <= 60; ++k) {
      const auto a = static_cast<stream::TensorId>(k * 7 % 12 + 1);
      const auto b = static_cast<stream::TensorId>(k * 5 % 12 + 1);
      records.push_back(
          kernel(k, {reads(a, Bytes{a * 3'000'001ull}), writes(b, Bytes{b * 99'999ull})},
                 1e8 * static_cast<double>(k), {0, static_cast<std::int64_t>(k % 3)}));
    }
    const Outcome run = replay(machine(both(both(pool_patch(), host_patch()),
                                            R"({"policy": {"default_hbm_share": 0.5},
                                                "scheduler": {"walk_latency": "500ns"}})")),
                               std::move(records));
    FILE* out = fdopen(ends[1], "w");
    for (const auto& row : run.rows)
      std::fprintf(out, "%llu %lld %lld %llu\n", static_cast<unsigned long long>(row.id),
                   static_cast<long long>(row.result.start.count),
                   static_cast<long long>(row.result.end.count),
                   static_cast<unsigned long long>(row.result.dram.count));
    for (std::size_t c = 0; c < hw::kCauses; ++c)
      std::fprintf(
          out, "%lld\n",
          static_cast<long long>(run.platform->gpu(0).causes().of(static_cast<Cause>(c)).count));
    std::fprintf(out, "%s", run.unbalanced().c_str());
    std::fclose(out);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return text;
}

} // namespace

TEST_CASE("the same stream on the same machine gives the same rows to the femtosecond") {
  const std::string first = busy_run(), second = busy_run();
  CHECK(std::count(first.begin(), first.end(), '\n') == 60 + static_cast<long>(hw::kCauses));
  CHECK(first == second);
}

} // namespace umf::test
