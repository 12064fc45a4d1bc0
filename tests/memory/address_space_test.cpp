#include "model/base/error.h"
#include "model/base/random.h"
#include "model/memory/address_space.h"

#include <catch2/catch.hpp>

#include <map>
#include <vector>

using namespace umf;
using namespace umf::memory;

namespace {

constexpr Bytes kPage = 64_KiB;

stream::Tensor tensor(stream::TensorId id, std::uint64_t bytes,
                      stream::Role role = stream::Role::activation) {
  stream::Tensor t;
  t.id = id;
  t.bytes = {bytes};
  t.role = role;
  return t;
}

stream::Tensor pages(stream::TensorId id, std::uint64_t count) {
  return tensor(id, count * kPage.count);
}

} // namespace

TEST_CASE("roles go to three regions, told apart by the top byte") {
  using stream::Role;
  const auto [role, region] = GENERATE(table<Role, Region>({{Role::weight, Region::weight},
                                                            {Role::expert, Region::weight},
                                                            {Role::lora, Region::weight},
                                                            {Role::kv_key, Region::kv},
                                                            {Role::kv_value, Region::kv},
                                                            {Role::activation, Region::activation},
                                                            {Role::workspace, Region::activation},
                                                            {Role::unknown, Region::activation}}));
  AddressSpace space(kPage);
  const auto& entry = space.declare(tensor(1, 1, role));
  CHECK(entry.region == region);
  CHECK(entry.base >> 56 == static_cast<std::uint64_t>(region) + 1);
}

TEST_CASE("regions have names") {
  CHECK(name_of(Region::kv) == "kv");
  CHECK(name_of(Region::activation) == "activation");
  CHECK(name_of(Region::weight) == "weight");
}

TEST_CASE("a tensor gets whole pages") {
  const auto [bytes, expected] = GENERATE(table<std::uint64_t, std::uint64_t>(
      {{0, 0}, {1, 1}, {65535, 1}, {65536, 1}, {65537, 2}, {655360, 10}}));
  AddressSpace space(kPage);
  CHECK(space.declare(tensor(1, bytes)).pages == expected);
  CHECK(space.live_tensors() == 1);
  space.release(1);
  CHECK(space.live_tensors() == 0);
}

TEST_CASE("a tensor larger than the space is refused") {
  AddressSpace space(kPage);
  CHECK_THROWS_AS(space.declare(tensor(1, UINT64_MAX)), UserError);
  space.declare(pages(2, 1));
  CHECK_THROWS_AS(space.declare(tensor(3, std::uint64_t{1} << 56)), InvariantError);
}

TEST_CASE("live ranges are page aligned, disjoint and found by every address they hold") {
  const std::uint64_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  RandomStream random(seed, "address_space_test");
  AddressSpace space(kPage);
  std::map<std::uint64_t, std::uint64_t> live; // base → bytes
  std::vector<stream::TensorId> ids;
  stream::TensorId next = 0;
  for (int step = 0; step < 20'000; ++step) {
    CAPTURE(step);
    if (ids.empty() || random.next_below(100) < 52) {
      const auto role = static_cast<stream::Role>(random.next_below(8));
      const auto& entry = space.declare(tensor(next, 1 + random.next_below(9 * kPage.count), role));
      const std::uint64_t bytes = entry.pages * kPage.count;
      REQUIRE(entry.base % kPage.count == 0);
      REQUIRE(bytes >= entry.tensor.bytes.count);
      const auto after = live.lower_bound(entry.base);
      if (after != live.end()) REQUIRE(entry.base + bytes <= after->first);
      if (after != live.begin())
        REQUIRE(std::prev(after)->first + std::prev(after)->second <= entry.base);
      live.emplace(entry.base, bytes);
      ids.push_back(next++);
    } else {
      const std::size_t pick = random.next_below(ids.size());
      const auto& entry = space.at(ids[pick]);
      REQUIRE(space.holder(entry.base) == &entry);
      REQUIRE(space.holder(entry.base + entry.pages * kPage.count - 1) == &entry);
      live.erase(entry.base);
      space.release(ids[pick]);
      ids[pick] = ids.back();
      ids.pop_back();
    }
    REQUIRE(space.live_tensors() == live.size());
  }
}

TEST_CASE("holder() ends exactly at the last page") {
  AddressSpace space(kPage);
  const auto a = space.declare(pages(1, 2));
  const auto b = space.declare(pages(2, 1)); // follows at once
  REQUIRE(b.base == a.base + 2 * kPage.count);
  CHECK(space.holder(a.base - 1) == nullptr);
  CHECK(space.holder(a.base)->tensor.id == 1);
  CHECK(space.holder(b.base - 1)->tensor.id == 1);
  CHECK(space.holder(b.base)->tensor.id == 2);
  CHECK(space.holder(b.base + kPage.count - 1)->tensor.id == 2);
  CHECK(space.holder(b.base + kPage.count) == nullptr);
  space.release(1);
  CHECK(space.holder(a.base) == nullptr);
}

TEST_CASE("the smallest released range that fits is used again") {
  AddressSpace space(kPage);
  const std::uint64_t sizes[] = {4, 1, 2, 1, 3, 1}; // the ones keep the others apart
  std::vector<std::uint64_t> bases;
  for (stream::TensorId id = 0; id < 6; ++id)
    bases.push_back(space.declare(pages(id, sizes[id])).base);
  for (const stream::TensorId id : {0u, 2u, 4u})
    space.release(id); // holes of 4, 2 and 3 pages
  CHECK(space.declare(pages(10, 2)).base == bases[2]);
  CHECK(space.declare(pages(11, 1)).base == bases[4]); // 3 is the next larger; 2 are left
  CHECK(space.declare(pages(12, 2)).base == bases[4] + kPage.count);
  CHECK(space.declare(pages(13, 5)).base == bases[5] + kPage.count); // none fits: on top
}

TEST_CASE("released neighbours join, and the space shrinks with its last tensor") {
  AddressSpace space(kPage);
  const std::uint64_t base = space.declare(pages(1, 2)).base;
  space.declare(pages(2, 3));
  space.declare(pages(3, 1));
  space.release(1);
  space.release(2);
  CHECK(space.declare(pages(4, 5)).base == base);
  space.release(3);
  space.release(4);
  CHECK(space.declare(pages(5, 1000)).base == base);
}

TEST_CASE("a step that repeats gets the same addresses every time") {
  AddressSpace space(kPage);
  const auto step = [&space] {
    std::vector<std::uint64_t> bases;
    for (stream::TensorId id = 0; id < 50; ++id) {
      bases.push_back(space.declare(pages(id, 1 + id * 7 % 13)).base);
      if (id >= 2) space.release(id - 2);
    }
    space.release(48);
    space.release(49);
    return bases;
  };
  const auto first = step();
  CHECK(step() == first);
  CHECK(step() == first);
}

TEST_CASE("ids are declared once and must be live") {
  AddressSpace space(kPage);
  space.declare(pages(1, 1));
  CHECK_THROWS_AS(space.declare(pages(1, 1)), InvariantError);
  CHECK_THROWS_AS(space.release(2), InvariantError);
  CHECK_THROWS_AS(space.at(2), InvariantError);
  CHECK(space.find(2) == nullptr);
}
