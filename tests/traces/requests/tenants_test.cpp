#include "tests/traces/requests/reading.h"
#include "traces/requests/poisson.h"
#include "traces/requests/tenants.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace umf;
using namespace umf::test;
using traces::requests::PoissonSource;
using traces::requests::TenantsSource;

namespace {

class Listed : public stream::Source {
public:
  explicit Listed(std::vector<stream::Request> requests) : requests_(std::move(requests)) {}
  const stream::Header& header() const override { return header_; }
  bool next(stream::Record& record) override {
    if (at_ == requests_.size()) return false;
    record = requests_[at_++];
    return true;
  }

private:
  std::vector<stream::Request> requests_;
  std::size_t at_ = 0;
  stream::Header header_;
};

stream::Request at(std::int64_t ns, std::vector<std::uint64_t> blocks = {}) {
  stream::Request request;
  request.arrival_ns = ns;
  request.prompt_tokens = request.output_tokens = 1;
  request.prefix_blocks = std::move(blocks);
  return request;
}

} // namespace

TEST_CASE("tenants' requests come in order of arrival, numbered anew, in their class") {
  std::vector<TenantsSource::Part> parts;
  parts.push_back({std::make_unique<Listed>(std::vector{at(5), at(20)}), "gold"});
  parts.push_back({std::make_unique<Listed>(std::vector{at(5), at(10)}), "rest"});
  TenantsSource source(std::move(parts));
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> tenants;
  stream::Record record;
  while (source.next(record)) {
    const auto& request = std::get<stream::Request>(record);
    CHECK(request.id == times.size());
    times.push_back(request.arrival_ns);
    tenants.push_back(source.tenant_of(request.id));
    CHECK(request.service_class == (tenants.back() == 0 ? "gold" : "rest"));
  }
  CHECK(times == std::vector<std::int64_t>{5, 5, 10, 20});
  CHECK(tenants == std::vector<std::uint32_t>{0, 1, 1, 0});
}

TEST_CASE("equal blocks of two tenants are not the same prefix, those of one are") {
  std::vector<TenantsSource::Part> parts;
  parts.push_back({std::make_unique<Listed>(std::vector{at(1, {7}), at(2, {7})}), "a"});
  parts.push_back({std::make_unique<Listed>(std::vector{at(3, {7})}), "a"});
  TenantsSource source(std::move(parts));
  std::vector<std::uint64_t> names;
  stream::Record record;
  while (source.next(record))
    names.push_back(std::get<stream::Request>(record).prefix_blocks.at(0));
  CHECK(names[0] == names[1]);
  CHECK(names[0] != names[2]);
}

TEST_CASE("a tenant's requests have its mix's lengths and end with its time") {
  const serving::Tenant code = serving::parse_tenant("c code 10Hz default 1", 0.5);
  const auto requests =
      read_requests([&] {
        return std::make_unique<PoissonSource>(code, 2'000'000'000'000_ns, std::uint64_t{1});
      }).requests;
  // 20,000 expected; the standard deviation of the count is 141.
  CHECK(static_cast<double>(requests.size()) == Approx(20000).epsilon(0.03));
  CHECK(requests.front().arrival_ns > 0);
  CHECK(requests.back().arrival_ns <= 2'000'000'000'000);
  std::vector<double> in, out;
  for (const auto& request : requests) {
    in.push_back(request.prompt_tokens);
    out.push_back(request.output_tokens);
  }
  std::nth_element(in.begin(), in.begin() + 10000, in.end());
  std::nth_element(out.begin(), out.begin() + 10000, out.end());
  // Medians of the measured trace: 1,469 and 13.
  CHECK(in[10000] == Approx(1469).epsilon(0.05));
  CHECK(out[10000] == Approx(13).epsilon(0.1));
}
