#include "model/serving/kv_blocks.h"
#include "tests/support/shared_data.h"
#include "traces/requests/mooncake.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::serving;
using test::shared_file;

namespace {

std::vector<stream::Request> requests_of(const std::filesystem::path& path) {
  traces::requests::MooncakeReader reader(path);
  std::vector<stream::Request> requests;
  stream::Record record;
  while (reader.next(record))
    requests.push_back(std::get<stream::Request>(record));
  return requests;
}

/// Percent of the block references that the cache answers, one request at a time.
double hit_rate(const std::vector<stream::Request>& requests, std::uint32_t capacity) {
  KvBlocks blocks(capacity);
  std::uint64_t asked = 0, hit = 0;
  std::vector<BlockId> ids, more;
  for (const auto& request : requests) {
    const auto& names = request.prefix_blocks;
    asked += names.size();
    hit += blocks.match(names, names.size(), ids);
    more.clear();
    REQUIRE(blocks.extend(names.size() - ids.size(), more));
    for (const BlockId id : more) {
      blocks.publish(id, names[ids.size()]);
      ids.push_back(id);
    }
    blocks.release(ids);
  }
  blocks.prove();
  return 100.0 * static_cast<double>(hit) / static_cast<double>(asked);
}

} // namespace

// Facts, section 5.2: LRU hit rates of the conversation trace computed by others from the public
// file, by capacity in millions of tokens; a block has 512.
TEST_CASE("the prefix hit rate of Mooncake's conversation hour is as published at every capacity") {
  const auto path = shared_file("data/traces/requests/conversation_trace.jsonl");
  if (!path) return;
  const auto requests = requests_of(*path);
  REQUIRE(requests.size() == 12031);
  const struct {
    double million_tokens, percent;
  } published[] = {{0.26, 4.2}, {0.51, 4.5},  {1.0, 5.4},   {2.6, 11.0},
                   {5.1, 21.1}, {10.2, 28.8}, {25.6, 35.5}, {148.0, 36.6}};
  // 148 M tokens hold all 288,500 references: 1 - 182,790 / 288,500 = 36.64 %.
  for (const auto& point : published) {
    CAPTURE(point.million_tokens);
    const auto capacity = static_cast<std::uint32_t>(point.million_tokens * 1e6 / 512);
    CHECK(hit_rate(requests, capacity) == Approx(point.percent).margin(0.5));
  }
}
