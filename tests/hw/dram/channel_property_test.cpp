#include "tests/hw/dram/checker.h"
#include "tests/hw/dram/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace umf;
using namespace umf::hw::dram;

namespace {

/// Everything a channel did with a stream of random requests.
struct Played {
  std::vector<Command> log;
  std::vector<Done> done;
  std::vector<test::Sent> sent;
  ChannelStatistics statistics;
  std::vector<Channel::Refreshes> refreshes;
};

Played play(const Channel::Config& config, const test::Traffic& traffic, std::uint64_t seed) {
  Played played;
  Channel channel(config, played.done);
  channel.log_to(&played.log);
  played.sent = test::send(channel, config.organisation, traffic, seed);
  played.statistics = channel.statistics();
  for (std::uint32_t r = 0; r < config.organisation.ranks; ++r)
    played.refreshes.push_back(channel.refreshes(r));
  return played;
}

} // namespace

TEST_CASE("Random traffic breaks no distance of the standard and every request is served") {
  for (std::uint64_t seed = 1; seed <= 240; ++seed) {
    const Channel::Config config = test::random_config(seed);
    const test::Traffic traffic = test::random_traffic(seed);
    const Played played = play(config, traffic, seed);
    INFO("seed " << seed);

    const auto found = test::breaches(played.log, config.organisation, config.timings);
    CHECK(found.size() == 0);
    if (!found.empty()) INFO(found.front());
    if (!found.empty()) FAIL(found.front());

    // Each request once: its tag comes back, and each non-forwarded one has its column command.
    std::set<std::uint32_t> tags;
    for (const Done& done : played.done)
      CHECK(tags.insert(done.tag).second);
    CHECK(tags.size() == played.sent.size());
    const auto columns = static_cast<std::uint64_t>(
        std::count_if(played.log.begin(), played.log.end(), [](const Command& c) {
          return c.order == Order::read || c.order == Order::write;
        }));
    CHECK(columns + played.statistics.forwarded == played.sent.size());
    CHECK(played.statistics.reads + played.statistics.writes == columns);

    for (const auto& refreshes : played.refreshes) {
      CHECK(refreshes.issued <= refreshes.due);
      CHECK(refreshes.due - refreshes.issued <= config.controller.postpone + 2);
    }
  }
}

TEST_CASE("Lost and busy clocks add up to the time of the data bus") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Channel::Config config = test::random_config(seed);
    const Played played = play(config, test::random_traffic(seed), seed);
    Cycle sum = played.statistics.busy;
    for (const Cycle clocks : played.statistics.lost)
      sum += clocks;
    CHECK(sum == played.statistics.last_data - played.statistics.first_data);
  }
}

TEST_CASE("How often a channel is asked to advance changes nothing") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Channel::Config config = test::random_config(seed);
    test::Traffic traffic = test::random_traffic(seed);
    Played lazy = play(config, traffic, seed);
    traffic.advance_every = 3;
    Played eager = play(config, traffic, seed);
    INFO("seed " << seed);
    const auto by_tag = [](const Done& a, const Done& b) { return a.tag < b.tag; };
    std::sort(lazy.done.begin(), lazy.done.end(), by_tag);
    std::sort(eager.done.begin(), eager.done.end(), by_tag);
    REQUIRE(lazy.done.size() == eager.done.size());
    for (std::size_t i = 0; i < lazy.done.size(); ++i)
      REQUIRE(lazy.done[i].at == eager.done[i].at);
    // Silences counted by whole rounds come to what playing them comes to.
    for (std::size_t r = 0; r < lazy.refreshes.size(); ++r) {
      CHECK(lazy.refreshes[r].due == eager.refreshes[r].due);
      CHECK(lazy.refreshes[r].issued == eager.refreshes[r].issued);
    }
    CHECK(lazy.statistics.activates == eager.statistics.activates);
    CHECK(lazy.statistics.busy == eager.statistics.busy);
  }
}
