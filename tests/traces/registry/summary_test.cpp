#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/summary.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using namespace umf::traces;

namespace {

class ListSource : public Source {
public:
  ListSource(Header header, std::vector<Record> records)
      : header_(std::move(header)), records_(std::move(records)) {}
  const Header& header() const override { return header_; }
  bool next(Record& record) override {
    if (at_ == records_.size()) return false;
    record = records_[at_++];
    return true;
  }

private:
  Header header_;
  std::vector<Record> records_;
  std::size_t at_ = 0;
};

Copy make_copy(CopyKind kind, std::int64_t start_ns, std::int64_t end_ns,
               std::optional<Bytes> bytes) {
  Copy copy;
  copy.kind = kind;
  copy.stream.stream = 9;
  copy.start_ns = start_ns;
  copy.end_ns = end_ns;
  copy.bytes = bytes;
  return copy;
}

/// Three kernels on stream 1, one on stream 2, one without times on stream 3:
///   stream 1:  a 100–200, b 150–160 (overlaps a), a 300–300 (no length)
///   stream 2:  c 180–250
///   copies on stream 9: 50–60, 400–430
std::vector<Record> sample() {
  Kernel gemm = make_kernel(1, "a", 100, 200, 1);
  gemm.op = "aten::mm";
  gemm.rule = Rule::gemm;
  gemm.grid = {4, 1, 1};
  gemm.accesses = {make_access(1, Rule::gemm, Bytes{1000}, 0.5),
                   make_access(2, Rule::recorded, Bytes{30})};
  Kernel matched = make_kernel(2, "b", 150, 160, 1);
  matched.rule = Rule::matched;
  matched.accesses = {make_access(1, Rule::matched, Bytes{7})};
  Kernel untimed;
  untimed.name = "d";
  untimed.stream.stream = 3;
  return {make_tensor(1, "w", Role::weight, Bytes{1000}),
          make_tensor(2, "x", Role::activation, Bytes{30}),
          make_tensor(3, "v", Role::weight, Bytes{24}),
          make_copy(CopyKind::host_to_device, 50, 60, Bytes{4096}),
          matched, // out of order of time
          gemm,
          make_kernel(3, "c", 180, 250, 2),
          make_kernel(4, "a", 300, 300, 1),
          untimed,
          make_copy(CopyKind::device_to_host, 400, 430, std::nullopt),
          make_copy(CopyKind::memset, 61, 63, Bytes{16}),
          Sync{},
          Request{},
          Mark{},
          Oddity{"odd-thing", "A thing is odd.", 3, "line 4"}};
}

Summary summary_of(std::vector<Record> records) {
  ListSource source(make_header("kineto", "NVIDIA H100"), std::move(records));
  return summarise(source);
}

} // namespace

TEST_CASE("a summary counts what a trace holds") {
  const Summary summary = summary_of(sample());
  REQUIRE(summary.kernels == 5);
  REQUIRE(summary.unknown_kernels == 3);     // c, the second a, d
  REQUIRE(summary.joined_kernels == 1);      // the first a
  REQUIRE(summary.unique_kernel_names == 4); // a, b, c, d
  REQUIRE(summary.grid_present == 1);
  REQUIRE(summary.streams == 3); // 1, 2, 3; copies do not count
  REQUIRE(summary.copies.count == 2);
  REQUIRE(summary.copies.unsized == 1);
  REQUIRE(summary.copies.bytes == Bytes{4096});
  REQUIRE(summary.copies.total_ns == 40); // 10 + 30
  REQUIRE(summary.memsets.count == 1);
  REQUIRE(summary.memsets.bytes == Bytes{16});
  REQUIRE(summary.memsets.total_ns == 2);
  REQUIRE(summary.syncs == 1);
  REQUIRE(summary.requests == 1);
  REQUIRE(summary.tensors[static_cast<std::size_t>(Role::weight)].count == 2);
  REQUIRE(summary.tensors[static_cast<std::size_t>(Role::weight)].bytes == Bytes{1024});
  REQUIRE(summary.oddities.size() == 1);
}

TEST_CASE("a summary adds up times in any order of records") {
  const Summary summary = summary_of(sample());
  REQUIRE(summary.measured_kernels == 4);
  REQUIRE(summary.measured_kernel_ns == 180); // 100 + 10 + 70 + 0
  REQUIRE(summary.busy_ns == 150);            // 100–250; b lies within, the second a is empty
  REQUIRE(summary.span_ns == 200);            // 100–300
  REQUIRE(summary.zero_durations == 1);
  REQUIRE(summary.same_stream_overlaps == 1); // b in a; c is on another stream
  REQUIRE(summary.max_overlap_ns == 50);      // 200 − 150
  REQUIRE(summary.durations->shortest_ns == 0);
  REQUIRE(summary.durations->median_ns == 70); // of 0, 10, 70, 100
  REQUIRE(summary.durations->longest_ns == 100);
}

TEST_CASE("a summary says which rule each byte came from") {
  const Summary summary = summary_of(sample());
  const auto of = [&](Rule rule) { return summary.inferred[static_cast<std::size_t>(rule)]; };
  REQUIRE(of(Rule::gemm).bytes == Bytes{500}); // 1000 × 0.5
  REQUIRE(of(Rule::recorded).bytes == Bytes{30});
  REQUIRE(of(Rule::recorded).kernels == 0); // an access of its own rule, in a gemm kernel
  REQUIRE(of(Rule::matched).kernels == 1);
  REQUIRE(of(Rule::unknown).kernels == 3);
}

TEST_CASE("a kernel that ends before it starts is counted and left out") {
  const Summary summary = summary_of({make_kernel(1, "k", 10, 5)});
  REQUIRE(summary.negative_durations == 1);
  REQUIRE(summary.measured_kernel_ns == 0);
  REQUIRE_FALSE(summary.durations);
}

TEST_CASE("the summary as JSON has the keys that scripts use") {
  const auto json = to_json(summary_of(sample()));
  REQUIRE(json["format"] == "kineto");
  REQUIRE(json["device"] == "NVIDIA H100");
  REQUIRE(json["kernels"] == 5);
  REQUIRE(json["copies"] == 2);
  REQUIRE(json["streams"] == 3);
  REQUIRE(json["requests"] == 1);
  REQUIRE(json["measured_kernel_ns"] == 180);
  REQUIRE(json["busy_ns"] == 150);
  REQUIRE(json["copy_bytes"] == 4096);
  REQUIRE(json["inferred_bytes"]["gemm"] == 500);
  REQUIRE(json["oddities"][0]["code"] == "odd-thing");
  REQUIRE(json["oddities"][0]["count"] == 3);
}

TEST_CASE("names in no encoding still print") {
  ListSource source(make_header("\xff", "\xc0 GPU"), {});
  const Summary summary = summarise(source);
  REQUIRE(to_json(summary).dump().find("\xef\xbf\xbd GPU") != std::string::npos);
  REQUIRE(to_json(summary)["kernels"] == 0);
  REQUIRE(to_text(summary).find("kernels") != std::string::npos);
}

TEST_CASE("the summary for people is aligned") {
  const std::string text = to_text(summary_of(sample()));
  INFO(text);
  REQUIRE(text.find("copies            2, 4.096 kB in 40 ns (1 of unknown size)\n") !=
          std::string::npos);
  REQUIRE(text.find("  gemm                       1         500 B\n") != std::string::npos);
}
