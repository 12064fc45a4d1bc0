#include "tests/scheduler/carry_out.h"
#include "tests/scheduler/logged.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "model/policy/registry.h"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

/// Logs that are not what a writer left, and logs that say what a brain would not do.
using namespace umf;
using namespace umf::test;
using namespace umf::scheduler;
using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr Bytes kPage = 64_KiB;

LogHeader header(const std::string& policy = R"({"name":"lru","block":"64KiB"})") {
  LogHeader header;
  header.page = kPage;
  header.tiers = {{"hbm", policy::TierClass::hbm, 2}, {"cxl", policy::TierClass::pool, 8}};
  header.gpus = {{policy, {{true, {}}, {true, {}}}}};
  return header;
}

/// Passes all on, but changes the n-th access.
class Meddler : public Tap {
public:
  Meddler(Tap& to, std::size_t change) : to_(to), change_(change) {}
  void declared(const stream::Tensor& t) override { to_.declared(t); }
  void preloaded(stream::TensorId t) override { to_.preloaded(t); }
  void reserved(const Access& a) override { to_.reserved(a); }
  void released(stream::TensorId t) override { to_.released(t); }
  void touched(const Access& a, std::span<const PageRun> runs) override {
    Access access = a;
    if (++touches_ == change_) access.address += kPage.count;
    to_.touched(access, runs);
  }
  void asked_again(const Access& a, std::span<const PageRun> runs) override {
    to_.asked_again(a, runs);
  }
  void sensed(const policy::Sensors& s) override { to_.sensed(s); }
  void link_changed(TierIndex t, const Condition& c, Femtoseconds now) override {
    to_.link_changed(t, c, now);
  }
  void served_faults(std::uint64_t p, Femtoseconds now) override { to_.served_faults(p, now); }
  void made_room(bool look) override { to_.made_room(look); }
  void gave(Asked asked, const Command* c) override { to_.gave(asked, c); }
  void refused(const Command& c, Femtoseconds now) override { to_.refused(c, now); }
  void landed(const Command& c, bool look) override { to_.landed(c, look); }
  void suspended(const Command& c) override { to_.suspended(c); }
  void quiesced(const Command& c, Femtoseconds now) override { to_.quiesced(c, now); }
  void completed(const Command& c) override { to_.completed(c); }
  void reclaimed(std::uint64_t a, Bytes l, memory::Range d) override { to_.reclaimed(a, l, d); }

private:
  Tap& to_;
  std::size_t change_, touches_ = 0;
};

/// Four pages read in turn on two frames of HBM, 3 turns, each fault served at once. Per access: a
/// touch, and what serves its fault.
std::string paging(std::size_t change = 0) {
  std::string bytes;
  const LogHeader made = header();
  LogWriter writer(made, into(bytes));
  Meddler tap(writer.gpu(0), change);
  memory::FrameAllocator hbm(2), pool(8);
  KeyContext context;
  auto policy = policy::kind_named("lru").make(parse_json(made.gpus[0].policy, "p"), context);
  Brain brain(
      {kPage, {{"hbm", policy::TierClass::hbm, &hbm}, {"cxl", policy::TierClass::pool, &pool}}},
      std::move(policy));
  brain.tap(&tap);
  stream::Tensor tensor;
  tensor.id = 1;
  tensor.name = "w";
  tensor.role = stream::Role::weight;
  tensor.bytes = {4 * kPage.count};
  brain.declare(tensor);
  brain.preload(1);
  const std::uint64_t base = brain.space().at(1).base;
  std::vector<PageRun> runs;
  Femtoseconds now{};
  for (std::uint64_t turn = 0; turn < 12; ++turn) {
    now += 1000_ns;
    runs.clear();
    brain.touch(base + turn % 4 * kPage.count, kPage, false, now, runs);
    carry_out(brain, now, 8);
  }
  writer.finish();
  return bytes;
}

std::string fault_of(const std::string& bytes) {
  try {
    LogReader reader = reader_of(bytes);
    for (LogEvent event; reader.next(event);) {
    }
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

std::string refusal_of(const LogHeader& header) {
  std::string bytes;
  LogWriter(header, into(bytes)).finish();
  try {
    replayed(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

/// Number of the n-th touch among the records.
std::uint64_t number_of_touch(const std::string& bytes, std::size_t n) {
  LogReader reader = reader_of(bytes);
  for (LogEvent event; reader.next(event);)
    if (event.kind == LogEvent::Kind::touch && --n == 0) return event.number;
  return 0;
}

} // namespace

TEST_CASE("a log with one access changed is caught at that record, with what came instead") {
  const std::string bytes = paging();
  const LogResult same = replayed(bytes);
  CHECK(same.difference == "");
  CHECK(same.commands > 12);

  // An access to the page behind: what is read there is another page.
  const std::size_t touch = GENERATE(1u, 2u, 6u, 11u);
  CAPTURE(touch);
  const std::string changed = paging(touch);
  const std::uint64_t number = number_of_touch(changed, touch);
  const LogResult result = replayed(changed);
  CHECK_THAT(result.difference, StartsWith("record " + std::to_string(number) + " (byte "));
  CHECK_THAT(result.difference,
             Contains(std::to_string(1'000'000'000ull * touch) + " fs, GPU 0), touch of 65536"));
  CHECK_THAT(result.difference, Contains("the log says digest ") && Contains(", came digest "));
  CHECK(result.events == number - 1);
}

TEST_CASE("another policy than the log's differs at the first decision of its own") {
  LogReplayOptions options;
  options.policy = [](const std::string&, std::uint32_t) {
    KeyContext context;
    return policy::kind_named("remote-read")
        .make(parse_json(R"({"name":"remote-read"})", "p"), context);
  };
  const LogResult result = replayed(paging(), options);
  CHECK_THAT(result.difference, StartsWith("record "));
}

TEST_CASE("events that a brain refuses are a difference, not a fault of the program") {
  std::string bytes;
  LogWriter writer(header(), into(bytes));
  writer.gpu(0).preloaded(7);
  writer.finish();
  CHECK_THAT(replayed(bytes).difference,
             StartsWith("record 1 (byte ") && Contains("preload of tensor 7: it is refused here"));

  bytes.clear();
  LogWriter other(header(), into(bytes));
  other.gpu(0).completed({});
  other.finish();
  CHECK_THAT(replayed(bytes).difference, Contains("an event of a command that is not in progress"));
}

TEST_CASE("a log that is cut short anywhere is a fault with its place") {
  const std::string bytes = paging();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CAPTURE(length);
    const std::string fault = fault_of(bytes.substr(0, length));
    CHECK_THAT(fault, StartsWith("x.log@") && Contains("expected"));
  }
  CHECK(fault_of(bytes).empty());
  CHECK_THAT(fault_of(bytes + "x"), Contains("bytes behind the end of the log, expected none"));
}

TEST_CASE("a log with one bit changed anywhere is caught") {
  const std::string bytes = paging();
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const std::string fault = fault_of(changed);
    if (fault.empty()) FAIL("bit " << bit << " of byte " << bit / 8);
    if (fault.find("expected") == std::string::npos) FAIL(fault);
  }
}

TEST_CASE("what is no log, or of another version, says so") {
  CHECK_THAT(fault_of(""), StartsWith("x.log@0: this is no command log, expected"));
  CHECK_THAT(fault_of("{\"umfsim-stream\":1}"), Contains("this is no command log"));
  std::string bytes = paging();
  bytes[8] = 3;
  CHECK_THAT(fault_of(bytes), Contains("3, expected a version of the format from 1 to 2"));
}

TEST_CASE("a header that no brains can be made of is refused") {
  CHECK_THAT(refusal_of(header(R"({"name":"lur"})")), Contains("expected an object with the name"));
  CHECK_THAT(refusal_of(header(R"({"name":"lru","blok":1})")), Contains("blok"));
  CHECK_THAT(refusal_of(header(R"({"name":"belady"})")), Contains("decides by what is to come"));
  CHECK_THAT(refusal_of(header("{")), StartsWith("x.log: policy of GPU 0"));
}
