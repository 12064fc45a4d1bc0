#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Policies that move pages, on the whole machine: HBM of 1 TB/s, a pool behind one Gen5 x16 link.
namespace umf::test {

using hw::Cause;
using F = Figures;

namespace {

/// A Gen5 x16 link of 68 B flits carries 52.7 GB/s of reads (pool_test.cpp).
const double kLink = 32e9 * 16 / 8 * 128 / 130 / (4.5 * 16 * 68 / 64 / 64);

std::string with(const std::string& policy, const std::string& hbm = "8GiB",
                 const std::string& scheduler = "{}") {
  const std::string machine =
      both(pool_patch(), R"({"policy": null, "tiers": {"hbm": {"capacity": ")" + hbm +
                             R"("}}, "scheduler": )" + scheduler + "}");
  return both(machine, R"({"policy": )" + policy + "}");
}

/// By reference: moving a temporary record in place gives gcc 12 a false alarm.
void add(std::vector<stream::Record>& records, const stream::Record& record) {
  records.push_back(record);
}

/// `rounds` of kernels that each read one of `count` weights of 16 MiB, in turn.
std::vector<stream::Record> scan(stream::TensorId count, stream::TensorId rounds) {
  std::vector<stream::Record> records;
  for (stream::TensorId t = 0; t < count; ++t)
    add(records, tensor(t, 16_MiB, stream::Role::weight));
  for (stream::TensorId k = 0; k < rounds * count; ++k)
    add(records, kernel(k, {reads(k % count, 16_MiB)}));
  return records;
}

} // namespace

TEST_CASE("a page that faults is waited for and then read at home") {
  // 64 MiB in the pool, faulted in by 16 pieces of 4 MiB, one after the other: the window holds
  // less than a piece. Each: service, then 4 MiB over the link. They are two blocks of one burst
  // each, which share the link and come at the same time: only then are they written to HBM, and
  // only then read there.
  const Outcome run = replay(machine(with(R"({"name": "lru", "hbm_reserve_ratio": 1.0})", "8GiB",
                                          R"({"fault_latency": "20us"})")),
                             {tensor(1, 64_MiB, stream::Role::weight),
                              kernel(1, {reads(1, 64_MiB)}), kernel(2, {reads(1, 64_MiB)})});
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.faults == 1024);
  CHECK(counters.remote_hits == 0);
  CHECK(counters.moved == 64_MiB);
  CHECK(counters.promotions == 1024);
  CHECK(run.platform->scheduler(0).statistics().fault_batches == 16);
  const double moved = 20e-6 + (4 << 20) / kLink + (4 << 20) / F::hbm;
  const double piece = moved + (4 << 20) / F::hbm;
  CHECK((run[0].end - F::start).seconds() == Approx(16 * piece).epsilon(0.01)); // and latencies
  CHECK(run[0].causes.of(Cause::migration).seconds() == Approx(16 * moved).epsilon(0.01));
  // The second time it is at home, as if it always had been (the L2 holds 32 of 64 MiB, in LRU).
  CHECK((run[1].end - run[1].start).seconds() < 1.2 * (64 << 20) / F::hbm + 2e-6);
  CHECK(run[1].causes.of(Cause::migration).count == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a working set beyond HBM thrashes and ends with the books in balance") {
  // Eight weights of 16 MiB in turn, HBM of 64 MiB: least recently used is always what comes next.
  const Outcome run = replay(machine(with(R"({"name": "lru"})", "64MiB")), scan(8, 4));
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.faults >= 3 * 8 * 256); // every page of every later round
  CHECK(counters.promotions - counters.demotions <= 1024);
  CHECK(counters.unmet == 0);
  CHECK(run.platform->brain(0).table().resident(0) <= 1024);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("an access longer than HBM ends") {
  const Outcome run = replay(
      machine(with(R"({"name": "lru"})", "4MiB")),
      {tensor(1, 64_MiB), tensor(2, 64_MiB), kernel(1, {reads(1, 64_MiB), writes(2, 64_MiB)})});
  CHECK(run.rows.size() == 1);
  CHECK(run.platform->brain(0).counters().unmet == 0); // what has come is read and leaves again
  CHECK(run.unbalanced() == "");
}

TEST_CASE("without anywhere to send pages they are read where they are") {
  // HBM and the pool are full to the last page: nothing can be exchanged.
  const Outcome run =
      replay(machine(both(with(R"({"name": "lru", "hbm_reserve_ratio": 0.0})", "16MiB"),
                          R"({"tiers": {"cxl": {"capacity": "16MiB"}}})")),
             {tensor(1, 32_MiB, stream::Role::weight), kernel(1, {reads(1, 32_MiB)})});
  CHECK(run.platform->brain(0).counters().unmet == 256);
  CHECK(run.platform->brain(0).counters().moved.count == 0);
  CHECK(run.unbalanced() == "");
}

/// Eight weights of 16 MiB in turn on an HBM of 64 MiB. At best half of the 128 MiB is read across
/// the link in each of four rounds, for as long as:
const double kHalfRemote = 4 * 64.0 * (1 << 20) / kLink;

TEST_CASE("a scan beyond HBM: umf keeps a steady part at home and reads the rest remotely") {
  const Outcome run = replay(machine(with(R"({"name": "umf"})", "64MiB")), scan(8, 4));
  CHECK(run.makespan.seconds() < 1.35 * kHalfRemote);
  CHECK(run.platform->brain(0).counters().faults == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("a scan beyond HBM: lru exchanges all of it in every round") {
  const Outcome run = replay(machine(with(R"({"name": "lru"})", "64MiB")), scan(8, 4));
  CHECK(run.makespan.seconds() > 3 * kHalfRemote); // every byte comes, and as many leave first
  CHECK(run.unbalanced() == "");
}

TEST_CASE("umf keeps room at home for what lives shortly") {
  // A weight fills 64 MiB of HBM but for the reserve; then activations of 32 MiB come and go.
  std::vector<stream::Record> records = {tensor(0, 60_MiB, stream::Role::weight),
                                         kernel(0, {reads(0, 60_MiB)})};
  for (stream::TensorId n = 1; n <= 6; ++n) {
    add(records, tensor(n, 32_MiB));
    add(records, kernel(2 * n, {writes(n, 32_MiB)}));
    add(records, kernel(2 * n + 1, {reads(n, 32_MiB)}));
    add(records, stream::Free{n});
  }
  const Outcome run = replay(machine(with(R"({"name": "umf"})", "64MiB")), std::move(records));
  const auto& counters = run.platform->brain(0).counters();
  // 32 of the 54 MiB of weights at home have left, and no activation was read across the link.
  CHECK(counters.demotions >= (32 + 54 - 64) * 16);
  CHECK(run.platform->tiers()[1].module->statistics().write_bytes ==
        (counters.demotions - counters.returned) * (64_KiB).count);
  CHECK(run.unbalanced() == "");
}

namespace {

/// 64 MiB in the pool, of which nothing is in HBM at the start, read twice; then what is between;
/// then read a third time.
Outcome read_again(double flops_between) {
  return replay(machine(with(R"({"name": "umf", "hbm_reserve_ratio": 1.0, "demote_watermark": 0.0,
                              "promote_margin": 0.0, "fetch_on_touch": false})")),
                {tensor(1, 64_MiB, stream::Role::weight), kernel(1, {reads(1, 64_MiB)}),
                 kernel(2, {reads(1, 64_MiB)}), kernel(3, {}, flops_between),
                 kernel(4, {reads(1, 64_MiB)})});
}

} // namespace

TEST_CASE("what is read again and again in the pool comes home in the background") {
  // 2 ms of arithmetic leave the link free for longer than the 1.34 ms of 64 MiB over the link and
  // into HBM.
  const Outcome run = read_again(2e-3 * F::peak);
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.faults == 0);
  CHECK(counters.promotions == 1024);
  CHECK(counters.demotions == 0);
  // Twice it was read where it was, at the link's rate, and then at HBM's (67 us).
  CHECK(run.platform->tiers()[1].module->statistics().demand_read_bytes == (128_MiB).count);
  CHECK((run[0].end - run[0].start).seconds() == Approx((64 << 20) / kLink).epsilon(0.02));
  CHECK((run[1].end - run[1].start).seconds() == Approx((64 << 20) / kLink).epsilon(0.02));
  CHECK((run[3].end - run[3].start).seconds() == Approx((64 << 20) / F::hbm).epsilon(0.05));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("background moves wait for a link that reads fill") {
  // Next to nothing between the reads: the moves ordered during the second take nothing from it,
  // and make way for the third.
  const Outcome run = read_again(1.0);
  for (const std::size_t row : {0u, 1u, 3u})
    CHECK((run[row].end - run[row].start).seconds() == Approx((64 << 20) / kLink).epsilon(0.02));
  CHECK(run.unbalanced() == "");
}

namespace {

/// Twelve experts of 16 MiB on an HBM of 128 MiB, three of them read in turn, sixteen times, before
/// it is three others' turn; those that began have a second turn at the end.
Outcome hot_set_that_moves(const std::string& keys) {
  std::vector<stream::Record> records;
  for (stream::TensorId t = 0; t < 12; ++t)
    add(records, tensor(t, 16_MiB, stream::Role::expert));
  for (stream::TensorId t = 0; t < 12; ++t)
    add(records, kernel(t, {reads(t, 16_MiB)}));
  std::uint64_t id = 12;
  for (const stream::TensorId first : {9u, 6u, 3u, 0u, 9u})
    for (int round = 0; round < 16; ++round)
      for (stream::TensorId t = first; t < first + 3; ++t)
        add(records, kernel(id++, {reads(t, 16_MiB)}));
  return replay(machine(with(R"({"name": "umf")" + keys + "}", "128MiB")), std::move(records));
}

/// One read of three experts across the link.
const double kThreeRemote = 3 * (16 << 20) / kLink;

} // namespace

TEST_CASE("what is read again soon comes home with the access that reads it, for what is not") {
  // Some four of twelve do not fit. A turn that begins outside reads each expert across the link
  // once to know that it recurs, and then for as long as nobody has been idle for twice a round:
  // three or four rounds of sixteen, where they would be 32 in all (below).
  const Outcome run = hot_set_that_moves("");
  CHECK(run.unbalanced() == "");
  CHECK(run.makespan.seconds() < 20 * kThreeRemote); // of 80 rounds
  const auto& unit = run.platform->scheduler(0).statistics();
  CHECK(unit.carried > 0);
  CHECK(run.platform->brain(0).counters().faults == 0);
}

TEST_CASE("S6 off: what lies outside is read there every time") {
  const Outcome run = hot_set_that_moves(R"(, "fetch_on_touch": false, "promotion": "off")");
  // Two turns of experts 9 to 11, sixteen rounds each, none of them at home.
  CHECK(run.makespan.seconds() > 32 * kThreeRemote);
  CHECK(run.platform->brain(0).counters().promotions == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5: what had come home goes back without being moved") {
  const Outcome run = hot_set_that_moves("");
  CHECK(run.platform->brain(0).counters().returned > 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S5 off: what goes back is moved") {
  const Outcome run = hot_set_that_moves(R"(, "keep_copies": false)");
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.returned == 0);
  CHECK(counters.moved == Bytes{(counters.promotions + counters.demotions) * (64_KiB).count});
  CHECK(run.unbalanced() == "");
}

namespace {

/// Keys of 16 MiB, which lie in the pool, each read after arithmetic of `flops`; five passes.
Outcome keys_after_arithmetic(double flops, const std::string& keys) {
  std::vector<stream::Record> records;
  add(records, tensor(0, 30_MiB, stream::Role::weight));
  for (stream::TensorId t = 1; t <= 4; ++t) {
    add(records, tensor(t, 16_MiB, stream::Role::kv_key));
    std::get<stream::Tensor>(records.back()).dtype = stream::DType::bf16;
  }
  std::uint64_t id = 0;
  add(records, kernel(id++, {reads(0, 30_MiB)}));
  for (int pass = 0; pass < 5; ++pass)
    for (stream::TensorId t = 1; t <= 4; ++t) {
      add(records, kernel(id++, {}, flops));
      add(records, kernel(id++, {reads(t, 16_MiB)}));
    }
  return replay(machine(with(R"({"name": "umf", "fetch_on_touch": false, "promotion": "off",
                                 "demote_watermark": 0.25, "prefetch_window": 1000000)" +
                                 keys + "}",
                             "64MiB")),
                std::move(records));
}

} // namespace

TEST_CASE("S4: keys come while the link is idle and are at home when they are read") {
  const Outcome run = keys_after_arithmetic(1e-3 * F::peak, "");
  const auto& prefetch = run.platform->brain(0).counters().prefetch;
  CHECK(prefetch.useful > 256); // pages: more than one of the keys
  CHECK(prefetch.useful > 4 * (prefetch.late + prefetch.wasted));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S4: what comes while HBM is busy comes packed, if that is allowed") {
  // HBM counts as busy from the first byte on.
  const Outcome run = keys_after_arithmetic(
      1e-3 * F::peak, R"(, "prefetch_free_bandwidth": 1.0, "pack": "prefetch")");
  const auto& counters = run.platform->brain(0).counters();
  CHECK(counters.packed > 256);
  CHECK(counters.packed <= counters.prefetch.issued);
  // Pages come whole and are written in 20 of 64 KiB.
  const auto& unit = run.platform->scheduler(0).statistics();
  CHECK(unit.saved_written == counters.packed * (44_KiB).count);
  CHECK(unit.packed_read > 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S4: what comes while HBM is busy does not come unless it may be packed") {
  const Outcome run = keys_after_arithmetic(1e-3 * F::peak, R"(, "prefetch_free_bandwidth": 1.0)");
  CHECK(run.platform->brain(0).counters().packed == 0);
  CHECK(run.unbalanced() == "");
}

namespace {

/// 16 MiB of keys in BF16 outside HBM, written and read across the link by kernels whose L2 holds
/// little of it.
Outcome keys_outside(const std::string& pack) {
  std::vector<stream::Record> records = {tensor(1, 16_MiB, stream::Role::kv_key)};
  std::get<stream::Tensor>(records.back()).dtype = stream::DType::bf16;
  add(records, kernel(1, {writes(1, 16_MiB)}));
  add(records, kernel(2, {reads(1, 16_MiB)}));
  return replay(machine(both(with(R"({"name": "umf", "demote_watermark": 1.0, "promotion": "off",
                                      "fetch_on_touch": false, "prefetch": false, "pack": ")" +
                                  pack + R"("})"),
                             R"({"gpu": {"l2": {"capacity": "1MiB"}}})")),
                std::move(records));
}

} // namespace

TEST_CASE("S3: what lies outside packed crosses the link packed") {
  const Outcome run = keys_outside("away");
  const double packed = 16.0 * (1 << 20) * 20 / 64;
  const auto& pool = run.platform->tiers()[1].module->statistics();
  CHECK(pool.write_bytes == static_cast<std::uint64_t>(packed));
  CHECK(static_cast<double>(pool.read_bytes) <= packed);
  CHECK(static_cast<double>(pool.read_bytes) > packed * 15 / 16); // but for what the L2 holds
  CHECK((run[1].end - run[1].start).seconds() == Approx(packed / kLink).epsilon(0.1));
  CHECK(run.platform->tiers()[1].frames->peak_used() == 80); // 256 pages in eight slabs of ten
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S3, plain: what lies outside crosses the link as it is") {
  const Outcome run = keys_outside("off");
  const double plain = 16.0 * (1 << 20);
  CHECK(run.platform->tiers()[1].module->statistics().write_bytes == (16_MiB).count);
  CHECK((run[1].end - run[1].start).seconds() == Approx(plain / kLink).epsilon(0.1));
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S4 off: keys are read in the pool") {
  const Outcome run = keys_after_arithmetic(1e-3 * F::peak, R"(, "prefetch": false)");
  CHECK(run.platform->brain(0).counters().prefetch.issued == 0);
  CHECK(run.platform->brain(0).counters().moved.count == 0);
  CHECK(run.unbalanced() == "");
}

TEST_CASE("S12: a host takes its time for each command") {
  // Each of 12 experts faults in blocks of 2 MiB, eight commands apiece; the host needs 100 us for
  // every one and for every batch of faults.
  std::vector<stream::Record> records;
  add(records, tensor(0, 64_MiB, stream::Role::weight));
  add(records, kernel(0, {reads(0, 64_MiB)}));
  const Outcome run =
      replay(machine(with(R"({"name": "lru", "hbm_reserve_ratio": 1.0})", "8GiB",
                          R"({"fault_latency": "0ns", "operation_cost": "100us"})")),
             std::move(records));
  const auto& unit = run.platform->scheduler(0).statistics();
  CHECK(unit.operations == unit.fault_batches + run.platform->brain(0).counters().commands);
  CHECK(run.makespan.seconds() > static_cast<double>(unit.operations) * 100e-6);
  CHECK(run.unbalanced() == "");
}

namespace {

/// Each GPU writes, then reads, three tensors of 32 MiB in turn; its HBM holds two of them.
void page_on_two_gpus(const std::string& policy) {
  const Outcome run = [&] {
    const std::string two = R"({
      "gpus": 2,
      "tiers": {"cxl": {"kind": "cxl", "capacity": "8GiB"}, "hbm": {"capacity": "64MiB"}},
      "links": {
        "gpu0-sw0": {"kind": "cxl", "from": "gpu0", "to": "sw0", "generation": 5, "width": 16},
        "gpu1-sw0": {"kind": "cxl", "from": "gpu1", "to": "sw0", "generation": 5, "width": 16},
        "sw0-cxl": {"kind": "cxl", "from": "sw0", "to": "cxl", "generation": 5, "width": 16}}})";
    std::vector<stream::Record> records;
    for (stream::TensorId t = 0; t < 6; ++t)
      add(records, tensor(t, 32_MiB));
    for (stream::TensorId k = 0; k < 12; ++k)
      add(records, kernel(k, {k < 6 ? writes(k, 32_MiB) : reads(k - 6, 32_MiB)}, 0,
                          {static_cast<std::int32_t>(k % 6 / 3), 0}));
    return replay(machine(both(two, R"({"policy": {"name": ")" + policy + R"("}})")),
                  std::move(records));
  }();
  for (memory::TierIndex g = 0; g < 2; ++g) {
    const auto& table = run.platform->brain(g).table();
    CAPTURE(g);
    CHECK(table.resident(g) == 1024);
    CHECK(table.resident(static_cast<memory::TierIndex>(1 - g)) == 0);
    CHECK(table.resident(2) == 512);
  }
  CHECK(run.unbalanced() == "");
}

} // namespace

TEST_CASE("each of two GPUs pages into its own HBM") {
  page_on_two_gpus("lru");
}

TEST_CASE("each of two GPUs places by role in its own HBM") {
  page_on_two_gpus("umf");
}

namespace {

/// 64 MiB in the pool, read n times. With 100 us a fault, in 16 batches, bringing them home costs
/// 16 · 100 + 1273 (link) and 16 · 4 us (each batch's own end); a read across the link takes
/// 1273 us, one at home 67: 2.4 reads. So two are cheaper left, three moved.
const double kAcross = (64 << 20) / kLink, kHome = (64 << 20) / F::hbm;
const double kMove = 16 * 100e-6 + kAcross + kHome;

double read_times(const std::string& policy, int n) {
  std::vector<stream::Record> records = {tensor(1, 64_MiB, stream::Role::weight)};
  for (int k = 0; k < n; ++k)
    add(records, kernel(static_cast<std::uint64_t>(k), {reads(1, 64_MiB)}));
  const Outcome run =
      replay(machine(with(R"({"name": ")" + policy + R"(", "hbm_reserve_ratio": 1})", "8GiB",
                          R"({"fault_latency": "100us"})")),
             std::move(records));
  CHECK(run.unbalanced() == "");
  return run.makespan.seconds() - n * F::start.seconds();
}

} // namespace

TEST_CASE("break-even: two reads are cheaper left") {
  CHECK(2 * kAcross < kMove + 2 * kHome);
  CHECK(read_times("remote-read", 2) == Approx(2 * kAcross).epsilon(0.03));
}

TEST_CASE("break-even: two reads are dearer moved") {
  CHECK(read_times("lru", 2) == Approx(kMove + 2 * kHome).epsilon(0.03));
}

TEST_CASE("break-even: three reads are dearer left") {
  CHECK(3 * kAcross > kMove + 3 * kHome);
  CHECK(read_times("remote-read", 3) == Approx(3 * kAcross).epsilon(0.03));
}

TEST_CASE("break-even: three reads are cheaper moved") {
  CHECK(read_times("lru", 3) == Approx(kMove + 3 * kHome).epsilon(0.03));
}

} // namespace umf::test
