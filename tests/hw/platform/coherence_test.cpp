#include "tests/hw/support/machine.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>

/// S5: writes to pages of the pool, which the copy engine of a second stream makes while kernels
/// read.
namespace umf::test {

using hw::Cause;
using F = Figures;

namespace {

/// Reads by 68 B flits of one Gen5 x16 link (pool_test.cpp).
const double kLink = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);

std::string staged(const std::string& more = "") {
  return both(pool_patch(), R"({"scheduler": {"pool_writes": "staged")" + more + "}}");
}

stream::Copy reload(std::uint64_t id, stream::TensorId tensor, Bytes bytes) {
  stream::Copy record = copy(id, stream::CopyKind::host_to_device, bytes, {0, 7});
  record.destination = tensor;
  return record;
}

/// An adapter of 4 MiB in the pool is read, and reloaded by a second stream during the second of
/// four reads of 32 MiB beside it.
Outcome reload_while_read(const std::string& patch) {
  std::vector<stream::Record> records = {tensor(1, 4_MiB, stream::Role::lora),
                                         tensor(2, 32_MiB, stream::Role::weight)};
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  for (std::uint64_t k = 0; k < 8; ++k) {
    add(kernel(2 * k, {reads(1, 4_MiB)}));
    if (k == 1) add(stream::Sync{{0, 7}, stream::StreamId{0, 0}, false, {}, {}});
    if (k == 1) add(reload(100, 1, 4_MiB));
    add(kernel(2 * k + 1, {reads(2, 32_MiB)}));
  }
  return replay(machine(patch), std::move(records));
}

} // namespace

TEST_CASE("S5 off: what is written to the pool goes there, and a reader may see half of it") {
  const Outcome run = reload_while_read(pool_patch());
  CHECK(run.platform->brain(0).counters().syncs == 0);
  CHECK(run.platform->tiers()[0].module->statistics().write_bytes == 0);
  CHECK(run.platform->tiers()[1].module->statistics().write_bytes == (4_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5 on: what is written to the pool lands in HBM and is copied from there") {
  const Outcome run = reload_while_read(staged());
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.syncs >= 1);
  CHECK(counters.synced == 4_MiB); // each byte once
  CHECK(counters.synced_pages == 64);
  CHECK(run.platform->scheduler(0).statistics().torn == 0);
  // The copy writes HBM, the sync reads it and writes the pool.
  CHECK(run.platform->tiers()[0].module->statistics().write_bytes == (4_MiB).count);
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes == (4_MiB).count);
  CHECK(run.platform->tiers()[1].module->statistics().write_bytes == (4_MiB).count);
  CHECK(run.platform->tiers()[0].frames->used() == 256); // 16 MiB of staging buffer, no page
  CHECK(run.unbalanced() == "");
}

namespace {

/// Kernels read 16 MiB in the pool one after the other; the copy writes them from the start on. Who
/// comes to read what is being synced waits, or reads the buffer.
Outcome read_behind_a_write(const std::string& patch) {
  std::vector<stream::Record> records = {tensor(1, 16_MiB, stream::Role::weight)};
  const auto add = [&](const stream::Record& record) { records.push_back(record); };
  add(kernel(0, {writes(1, 16_MiB)}));
  add(kernel(1, {reads(1, 16_MiB)}));
  return replay(machine(both(patch, R"({"gpu": {"l2": {"capacity": "1MiB"}}})")),
                std::move(records));
}

} // namespace

TEST_CASE("S5: a reader of pages in sync waits for them, as coherence") {
  const Outcome run = read_behind_a_write(staged());
  CHECK(run[1].causes.of(Cause::coherence).count > 0);
  CHECK(run.platform->brain(0).counters().synced == 16_MiB);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5: forwarded from the staging buffer a reader does not wait") {
  const Outcome run = read_behind_a_write(staged(R"(, "forward_from_staging": true)"));
  // What the write has left behind it when it ends is at most the buffer; that part is read in HBM.
  CHECK(run.platform->tiers()[0].module->statistics().read_bytes > (16_MiB).count);
  CHECK(run.platform->tiers()[1].module->statistics().read_bytes < (16_MiB).count);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5: a write longer than the staging buffer goes through it") {
  const Outcome run = read_behind_a_write(staged(R"(, "staging": "1MiB")"));
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.synced == 16_MiB);
  CHECK(counters.crowded > 0);
  // No faster than the link takes it.
  CHECK(run[1].end.seconds() > (16 << 20) / kLink);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5: a host's cost delays syncs and loses none") {
  const Outcome run = read_behind_a_write(staged(R"(, "operation_cost": "20us")"));
  CHECK(run.platform->brain(0).counters().synced == 16_MiB);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a locked weight that was read may not be written") {
  try {
    reload_while_read(both(pool_patch(), R"({"scheduler": {"weight_region_lock": true}})"));
    FAIL("no error");
  } catch (const UserError& error) {
    const std::string text = error.what();
    CHECK(text.find("operation 100") != std::string::npos);
    CHECK(text.find("scheduler.weight_region_lock off") != std::string::npos);
  }
}

TEST_CASE("a locked weight is written before it is read") {
  const Outcome run =
      replay(machine(both(pool_patch(), R"({"scheduler": {"weight_region_lock": true}})")),
             {tensor(1, 4_MiB, stream::Role::lora), kernel(1, {writes(1, 4_MiB)}),
              kernel(2, {reads(1, 4_MiB)})});
  CHECK(run.unbalanced() == "");
}

} // namespace umf::test
