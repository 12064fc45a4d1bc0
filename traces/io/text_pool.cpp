#include "traces/io/text_pool.h"

#include "model/base/error.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace umf::traces::io {

namespace {
constexpr std::size_t kBlock = std::size_t{1} << 16;
} // namespace

TextPool::Id TextPool::intern(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  const auto [found, fresh] =
      ids_.try_emplace({hash.low64, hash.high64}, static_cast<Id>(places_.size()));
  if (!fresh) return found->second;
  ensure(places_.size() < std::numeric_limits<Id>::max(), "too many distinct texts");
  Place place;
  place.length = text.size();
  if (in_memory_ + text.size() <= memory_.count) {
    char* to = room(text.size());
    std::copy(text.begin(), text.end(), to);
    place.memory = to;
    in_memory_ += text.size();
  } else {
    place.offset = file_.size();
    file_.append(text);
  }
  places_.push_back(place);
  return found->second;
}

std::string_view TextPool::view(Id id, std::string& scratch) const {
  const Place& place = places_[id];
  if (place.memory != nullptr) return {place.memory, place.length};
  scratch.resize(place.length);
  for (std::size_t got = 0; got < place.length;) {
    const auto more = file_.read(place.offset + got, scratch.data() + got, place.length - got);
    ensure(more > 0, "a temporary file is shorter than what was written");
    got += more;
  }
  return scratch;
}

/// Long texts get a block of their own, behind the one that is being filled.
char* TextPool::room(std::size_t bytes) {
  if (bytes > kBlock / 4) {
    auto own = std::make_unique<char[]>(bytes);
    char* at = own.get();
    blocks_.insert(blocks_.empty() ? blocks_.end() : blocks_.end() - 1, std::move(own));
    if (blocks_.size() == 1) block_left_ = 0;
    return at;
  }
  if (bytes > block_left_ || blocks_.empty()) {
    blocks_.push_back(std::make_unique<char[]>(kBlock));
    block_left_ = kBlock;
  }
  char* at = blocks_.back().get() + (kBlock - block_left_);
  block_left_ -= bytes;
  return at;
}

} // namespace umf::traces::io
