#include "model/base/random.h"
#include "model/serving/kv_blocks.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace umf;
using namespace umf::serving;

namespace {

std::vector<BlockId> computed(KvBlocks& blocks, const std::vector<std::uint64_t>& names) {
  std::vector<BlockId> ids;
  REQUIRE(blocks.extend(names.size(), ids));
  for (std::size_t i = 0; i < names.size(); ++i)
    blocks.publish(ids[i], names[i]);
  return ids;
}

std::size_t hits(KvBlocks& blocks, const std::vector<std::uint64_t>& names) {
  std::vector<BlockId> ids;
  const std::size_t matched = blocks.match(names, names.size(), ids);
  blocks.release(ids);
  return matched;
}

} // namespace

TEST_CASE("a prefix is found as far as it goes") {
  KvBlocks blocks(8);
  auto ids = computed(blocks, {1, 2, 3});
  blocks.release(ids);
  CHECK(hits(blocks, {1, 2, 3, 4}) == 3);
  CHECK(hits(blocks, {1, 2, 9, 3}) == 2);
  CHECK(hits(blocks, {2, 3}) == 2); // a name stands for the whole beginning up to its block
  CHECK(hits(blocks, {9}) == 0);
}

// A public simulator was 45 times too fast because it did otherwise.
TEST_CASE("an evicted block is no hit any more") {
  KvBlocks blocks(4);
  auto first = computed(blocks, {1, 2, 3, 4});
  blocks.release(first);
  REQUIRE(blocks.cached() == 4);
  auto second = computed(blocks, {5, 6}); // takes the room of two
  CHECK(blocks.evicted() == 2);
  CHECK(hits(blocks, {1, 2, 3, 4}) == 2); // the end of the prefix left before its begin
  blocks.release(second);
  auto third = computed(blocks, {7, 8, 9, 10});
  CHECK(hits(blocks, {1}) == 0);
  CHECK(hits(blocks, {5}) == 0);
  blocks.prove();
}

TEST_CASE("blocks that are held are never evicted, and a lack of room changes nothing") {
  KvBlocks blocks(4);
  auto ids = computed(blocks, {1, 2, 3});
  std::vector<BlockId> more;
  CHECK_FALSE(blocks.extend(2, more));
  CHECK(more.empty());
  CHECK(blocks.held() == 3);
  CHECK(blocks.extend(1, more));
  blocks.prove();
}

TEST_CASE("two sequences may hold one block, which stays until both let go") {
  KvBlocks blocks(2);
  auto ids = computed(blocks, {1});
  std::vector<BlockId> other;
  CHECK(blocks.match(std::vector<std::uint64_t>{1}, 1, other) == 1);
  CHECK(other == ids);
  CHECK(blocks.held() == 1);
  blocks.release(ids);
  CHECK(blocks.held() == 1);
  blocks.release(other);
  CHECK(blocks.held() == 0);
  CHECK(blocks.cached() == 1);
}

TEST_CASE("a name that is known stays with the block that had it first") {
  KvBlocks blocks(4);
  auto first = computed(blocks, {1});
  auto second = computed(blocks, {1});
  blocks.release(second); // unnamed, so free at once
  CHECK(blocks.cached() == 0);
  blocks.release(first);
  CHECK(blocks.cached() == 1);
  blocks.prove();
}

/// The same by sets and lists: what is cached, oldest first.
TEST_CASE("random sequences leave what a plain reference says, and the books balance") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream random(seed, "kv-blocks");
    const auto size = static_cast<std::uint32_t>(1 + random.next_below(40));
    KvBlocks blocks(size);
    std::vector<std::vector<BlockId>> held;
    std::vector<std::uint64_t> order; // names of cached blocks, oldest first
    std::map<BlockId, std::uint64_t> name_of;
    std::map<BlockId, unsigned> holders;
    for (int step = 0; step < 600; ++step) {
      if (!held.empty() && random.next_below(2) == 0) {
        const std::size_t which = random.next_below(held.size());
        auto ids = held[which];
        held.erase(held.begin() + static_cast<long>(which));
        for (std::size_t i = ids.size(); i-- > 0;)
          if (--holders[ids[i]] == 0 && name_of.count(ids[i]) > 0) order.push_back(name_of[ids[i]]);
        blocks.release(ids);
      } else {
        std::vector<std::uint64_t> names;
        std::uint64_t name = random.next_below(4);
        for (std::uint64_t i = 0, n = 1 + random.next_below(6); i < n; ++i)
          names.push_back(name = name * 5 + 1 + random.next_below(2));
        std::vector<BlockId> ids;
        const std::size_t matched = blocks.match(names, names.size(), ids);
        std::size_t expected = 0;
        std::set<std::uint64_t> known(order.begin(), order.end());
        for (const auto& [id, n] : name_of)
          if (holders[id] > 0) known.insert(n);
        while (expected < names.size() && known.count(names[expected]) > 0)
          ++expected;
        REQUIRE(matched == expected);
        for (const BlockId id : ids)
          if (holders[id]++ == 0) order.erase(std::find(order.begin(), order.end(), name_of[id]));
        std::vector<BlockId> more;
        std::uint64_t in_use = 0;
        for (const auto& [id, n] : holders)
          in_use += n > 0;
        const bool fits = in_use + names.size() - matched <= size;
        REQUIRE(blocks.extend(names.size() - matched, more) == fits);
        // What was evicted to make room is no longer cached: the oldest ones.
        while (!order.empty() && blocks.cached() < order.size()) {
          const std::uint64_t gone = order.front();
          order.erase(order.begin());
          for (auto it = name_of.begin(); it != name_of.end();)
            it = it->second == gone && holders[it->first] == 0 ? name_of.erase(it) : std::next(it);
        }
        for (std::size_t i = 0; i < more.size(); ++i) {
          REQUIRE(holders[more[i]]++ == 0);
          name_of.erase(more[i]);
          bool taken = false;
          for (const auto& [id, n] : name_of)
            taken = taken || n == names[matched + i];
          blocks.publish(more[i], names[matched + i]);
          if (!taken) name_of[more[i]] = names[matched + i];
          ids.push_back(more[i]);
        }
        held.push_back(ids);
      }
      blocks.prove();
      REQUIRE(blocks.cached() == order.size());
    }
  }
}
