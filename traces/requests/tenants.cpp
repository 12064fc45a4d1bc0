#include "traces/requests/tenants.h"

#include "model/base/random.h"

#include <utility>

namespace umf::traces::requests {

TenantsSource::TenantsSource(std::vector<Part> parts)
    : parts_(std::move(parts)), coming_(parts_.size()) {
  header_.format = "tenants";
  header_.source = "tenants";
  for (std::size_t p = 0; p < parts_.size(); ++p)
    read(p);
}

void TenantsSource::read(std::size_t part) {
  coming_[part].reset();
  stream::Record record;
  while (!coming_[part] && parts_[part].requests->next(record)) {
    if (auto* request = std::get_if<stream::Request>(&record))
      coming_[part] = std::move(*request);
    else if (std::holds_alternative<stream::Oddity>(record))
      oddities_.push_back(std::move(record));
  }
}

bool TenantsSource::next(stream::Record& record) {
  std::size_t first = parts_.size();
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (coming_[p] &&
        (first == parts_.size() || coming_[p]->arrival_ns < coming_[first]->arrival_ns))
      first = p;
  if (first == parts_.size()) {
    if (oddities_.empty()) return false;
    record = std::move(oddities_.back());
    oddities_.pop_back();
    return true;
  }
  stream::Request request = std::move(*coming_[first]);
  request.id = tenants_.size();
  request.service_class = parts_[first].service_class;
  for (std::uint64_t& block : request.prefix_blocks)
    block = mix_bits(block + mix_bits(first + 1));
  tenants_.push_back(static_cast<std::uint32_t>(first));
  read(first);
  record = std::move(request);
  return true;
}

} // namespace umf::traces::requests
