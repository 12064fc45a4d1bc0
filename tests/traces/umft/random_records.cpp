#include "tests/traces/umft/random_records.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

namespace umf::test {

using namespace stream;

bool RandomRecords::chance(unsigned in) {
  return random_() % in == 0;
}

template <class Number>
Number RandomRecords::number() {
  using Limits = std::numeric_limits<Number>;
  switch (random_() % 6) {
  case 0:
    return Limits::max();
  case 1:
    return Limits::min();
  case 2:
    return 0;
  case 3:
    return static_cast<Number>(random_() % 300);
  case 4:
    return static_cast<Number>(static_cast<std::int64_t>(random_()) >> (random_() % 64));
  default:
    return static_cast<Number>(random_());
  }
}

double RandomRecords::figure() {
  switch (random_() % 6) {
  case 0:
    return 0.0;
  case 1:
    return -0.0;
  case 2:
    return std::numeric_limits<double>::max();
  case 3:
    return std::numeric_limits<double>::denorm_min();
  case 4:
    return static_cast<double>(random_() >> 4);
  default: {
    const double any = std::abs(std::bit_cast<double>(random_()));
    return any <= std::numeric_limits<double>::max() ? any : 0.1;
  }
  }
}

std::string RandomRecords::text() {
  static const std::string kTexts[] = {"",
                                       "aten::addmm",
                                       "void gemm<float, 128>(int, float const*)",
                                       "\"quoted\\\" \n\t\r\b\f \x01 \x1f \x7f",
                                       "Grüße, 你好, 🙂",
                                       std::string("nul\0inside", 10),
                                       "\xff\xfe not UTF-8",
                                       "\xed\xa0\x80 a lone surrogate",
                                       "\xc0\xaf overlong",
                                       "cut short \xe4\xbd",
                                       "{\"hex\":\"00\"}"};
  if (chance(200)) return std::string(10'000, 'k') + kTexts[random_() % std::size(kTexts)];
  if (chance(3)) {
    std::string any(random_() % 40, '\0');
    std::generate(any.begin(), any.end(), [this] { return static_cast<char>(random_()); });
    return any;
  }
  return kTexts[random_() % std::size(kTexts)];
}

template <class Enum>
Enum RandomRecords::code(Enum last) {
  return static_cast<Enum>(random_() % (static_cast<std::uint64_t>(last) + 1));
}

template <class Number>
std::vector<Number> RandomRecords::list() {
  std::vector<Number> values(chance(3) ? random_() % 9 : 0);
  for (auto& value : values)
    value = number<Number>();
  return values;
}

StreamId RandomRecords::stream_id() {
  return {number<std::int32_t>(), number<std::int64_t>()};
}

Access RandomRecords::access() {
  Access access;
  access.tensor = number<TensorId>();
  access.write = chance(2);
  access.rule = code(kLastRule);
  access.pattern = code(Pattern::gather);
  access.offset = number<std::uint64_t>();
  access.length = {number<std::uint64_t>()};
  if (chance(2)) access.fraction = 1.0 / static_cast<double>(1 + random_() % 1000);
  access.indices = list<std::uint64_t>();
  if (chance(2)) access.block_bytes = {number<std::uint64_t>()};
  access.addresses = list<std::uint64_t>();
  return access;
}

Kernel RandomRecords::kernel() {
  Kernel kernel;
  kernel.id = number<KernelId>();
  kernel.name = text();
  kernel.op = text();
  kernel.stream = stream_id();
  if (chance(2)) kernel.issue_ns = number<std::int64_t>();
  if (chance(2)) kernel.start_ns = number<std::int64_t>();
  if (chance(2)) kernel.end_ns = number<std::int64_t>();
  for (auto* extents : {&kernel.grid, &kernel.block})
    if (chance(2)) *extents = {number<std::uint32_t>(), number<std::uint32_t>(), 1};
  if (chance(2)) kernel.registers_per_thread = number<std::uint32_t>();
  if (chance(2)) kernel.shared_memory = {number<std::uint64_t>()};
  kernel.launch = code(Launch::programmatic);
  kernel.phase = code(Phase::training);
  if (chance(2)) kernel.layer = number<std::int32_t>();
  if (chance(2)) kernel.flops = figure();
  kernel.flops_dtype = code(DType::c128);
  kernel.rule = code(kLastRule);
  kernel.accesses.resize(chance(2) ? random_() % 4 : 0);
  std::generate(kernel.accesses.begin(), kernel.accesses.end(), [this] { return access(); });
  return kernel;
}

Record RandomRecords::record() {
  const auto maybe = [this]<class Number>(std::optional<Number>& value) {
    if (chance(2)) value = number<Number>();
  };
  switch (random_() % 10) {
  case 0:
    return Tensor{number<TensorId>(),    text(),
                  code(Role::workspace), code(DType::c128),
                  list<std::int64_t>(),  {number<std::uint64_t>()},
                  number<std::int32_t>()};
  case 1: {
    Copy copy;
    copy.id = number<std::uint64_t>();
    copy.kind = code(CopyKind::memset);
    copy.stream = stream_id();
    maybe(copy.peer_device);
    maybe(copy.issue_ns);
    maybe(copy.start_ns);
    maybe(copy.end_ns);
    if (chance(2)) copy.bytes = Bytes{number<std::uint64_t>()};
    maybe(copy.source);
    maybe(copy.destination);
    return copy;
  }
  case 2: {
    Sync sync;
    sync.waiting = stream_id();
    if (chance(2)) sync.awaited = stream_id();
    sync.host_waits = chance(2);
    maybe(sync.start_ns);
    maybe(sync.end_ns);
    return sync;
  }
  case 3:
    return Alloc{number<TensorId>()};
  case 4:
    if (chance(2)) return Free{number<TensorId>()};
    return Free{number<TensorId>(), number<std::uint64_t>() / 2,
                Bytes{1 + number<std::uint64_t>() / 2}};
  case 5:
    return Request{number<std::uint64_t>(), number<std::int64_t>(), number<std::uint32_t>(),
                   number<std::uint32_t>(), list<std::uint64_t>(),  text()};
  case 6:
    return Mark{number<std::int64_t>(), text()};
  case 7:
    return Oddity{text(), text(), number<std::uint64_t>(), text()};
  default:
    return kernel();
  }
}

Header RandomRecords::header() {
  Header header{text(), text(), text(), number<std::int64_t>(), {}};
  header.devices.resize(random_() % 3);
  for (auto& device : header.devices)
    device = {number<std::int32_t>(),
              text(),
              {number<std::uint64_t>()},
              number<std::uint32_t>(),
              text(),
              number<std::uint32_t>(),
              number<std::uint32_t>(),
              {number<std::uint64_t>()},
              {figure()}};
  return header;
}

namespace {

bool equal(const auto& a, const auto& b) {
  return a == b;
}
bool equal(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool equal(const Access& a, const Access& b);
bool equal(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Access& x, const Access& y) { return equal(x, y); });
}

template <class... Members>
bool all_equal(const std::tuple<Members...>& a, const std::tuple<Members...>& b) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return (equal(std::get<i>(a), std::get<i>(b)) && ...);
  }
  (std::index_sequence_for<Members...>());
}

auto members(const Tensor& v) {
  const auto& [a, b, c, d, e, f, g] = v;
  return std::tie(a, b, c, d, e, f, g);
}
auto members(const Access& v) {
  const auto& [a, b, c, d, e, f, g, h, i, j] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
auto members(const Kernel& v) {
  const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
}
auto members(const Copy& v) {
  const auto& [a, b, c, d, e, f, g, h, i, j] = v;
  return std::tie(a, b, c, d, e, f, g, h, i, j);
}
auto members(const Sync& v) {
  const auto& [a, b, c, d, e] = v;
  return std::tie(a, b, c, d, e);
}
auto members(const Alloc& v) {
  const auto& [a] = v;
  return std::tie(a);
}
auto members(const Free& v) {
  const auto& [a, b, c] = v;
  return std::tie(a, b, c);
}
auto members(const Request& v) {
  const auto& [a, b, c, d, e, f] = v;
  return std::tie(a, b, c, d, e, f);
}
auto members(const Mark& v) {
  const auto& [a, b] = v;
  return std::tie(a, b);
}
auto members(const Oddity& v) {
  const auto& [a, b, c, d] = v;
  return std::tie(a, b, c, d);
}
auto members(const Header& v) {
  const auto& [a, b, c, d, e] = v;
  return std::tie(a, b, c, d, e);
}

bool equal(const Access& a, const Access& b) {
  return all_equal(members(a), members(b));
}

} // namespace

bool same(const Header& a, const Header& b) {
  return all_equal(members(a), members(b));
}

bool same(const Record& a, const Record& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& one) {
        return all_equal(members(one), members(std::get<std::decay_t<decltype(one)>>(b)));
      },
      a);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "umf-traces-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace umf::test
