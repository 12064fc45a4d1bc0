#include "hw/dram/streams.h"

#include "model/base/error.h"

#include <algorithm>
#include <numeric>

namespace umf::hw::dram {

std::vector<std::uint32_t> turns(std::span<const Stream> streams) {
  std::int64_t common = 0, all = 0;
  for (const Stream& stream : streams) {
    common = std::gcd(common, std::int64_t{stream.weight});
    all += stream.weight;
  }
  ensure(common > 0, "streams without a turn");
  // Whoever is furthest behind its share goes next.
  std::vector<std::int64_t> behind(streams.size(), 0);
  std::vector<std::uint32_t> order(static_cast<std::size_t>(all / common));
  for (std::uint32_t& turn : order) {
    for (std::size_t s = 0; s < streams.size(); ++s)
      behind[s] += streams[s].weight;
    const auto next = std::max_element(behind.begin(), behind.end());
    turn = static_cast<std::uint32_t>(next - behind.begin());
    *next -= all;
  }
  return order;
}

StreamWalk::StreamWalk(std::vector<Stream> streams, Bytes footprint, Bytes access)
    : streams_(std::move(streams)), turns_(turns(streams_)), places_(streams_.size()),
      accesses_(footprint.count / access.count), access_(access.count) {
  for (const Stream& stream : streams_)
    ensure(stream.run.count >= access_ && stream.run.count / access_ < accesses_,
           "a run that is no access, or more than there is");
}

Traffic::Item StreamWalk::next() {
  const std::uint32_t s = turns_[turn_];
  if (++turn_ == turns_.size()) turn_ = 0;
  Place& place = places_[s];
  if (place.left == 0) {
    place.left = streams_[s].run.count / access_;
    place.at = splitmix64(++draws_) % (accesses_ - place.left);
  }
  --place.left;
  return {place.at++ * access_, streams_[s].write};
}

} // namespace umf::hw::dram
