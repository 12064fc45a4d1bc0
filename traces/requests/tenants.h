#pragma once

#include "model/serving/tenants.h"
#include "model/stream/records.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace umf::traces::requests {

/// Several sources of requests as one, in order of arrival (at one instant in order of the list).
/// Requests are numbered anew, carry their tenant's class, and share no prefix with another's.
class TenantsSource : public stream::Source {
public:
  struct Part {
    std::unique_ptr<stream::Source> requests;
    std::string service_class;
  };
  explicit TenantsSource(std::vector<Part> parts);

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

  /// Of a request that next() gave.
  std::uint32_t tenant_of(std::uint64_t request) const {
    return tenants_.at(static_cast<std::size_t>(request));
  }

private:
  void read(std::size_t part);

  std::vector<Part> parts_;
  std::vector<std::optional<stream::Request>> coming_; ///< by part
  std::vector<stream::Record> oddities_;               ///< given at the end
  std::vector<std::uint32_t> tenants_;                 ///< by request
  stream::Header header_;
};

} // namespace umf::traces::requests
