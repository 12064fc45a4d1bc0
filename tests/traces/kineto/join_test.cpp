#include "tests/traces/kineto/sample.h"

#include <catch2/catch.hpp>

using namespace umf;
using test::document;
using test::event;
using test::kernel;
using test::read;

namespace {

std::string op(const std::string& name, const std::string& start, const std::string& duration,
               const std::string& id) {
  return event("cpu_op", name, start, duration, "\"External id\":" + id);
}

std::string call(const std::string& name, const std::string& start,
                 const std::string& correlation) {
  return event("cuda_runtime", name, start, "1", "\"correlation\":" + correlation);
}

std::string launched(const std::string& name, const std::string& start,
                     const std::string& correlation, const std::string& external) {
  return kernel(name, start, "1",
                "\"correlation\":" + correlation + ",\"External id\":" + external);
}

} // namespace

TEST_CASE("an External id counts when the launch lies inside its operator") {
  const auto trace =
      read(document(op("outer", "0", "100", "5") + "," + op("inner", "10", "20", "6") + "," +
                    call("cudaLaunchKernel", "12", "77") + "," + launched("k", "40", "77", "5")));
  CHECK(trace.records.kernels.at(0).op == "outer");
  CHECK(trace.statistics.joins.by_external_id == 1);
  CHECK(trace.records.kernels.at(0).issue_ns == 12000);
}

TEST_CASE("an External id that matches by accident is not believed") {
  // In 2022-23 traces the kernel's External id repeats its correlation, here 5, which is
  // also the id of an operator long over.
  const auto trace =
      read(document(op("accident", "0", "5", "5") + "," + op("outer", "8", "90", "8") + "," +
                    op("inner", "10", "20", "9") + "," + call("cudaLaunchKernel", "12", "5") + "," +
                    launched("k", "40", "5", "5")));
  CHECK(trace.records.kernels.at(0).op == "inner");
  CHECK(trace.statistics.joins.by_external_id == 0);
  CHECK(trace.statistics.joins.by_enclosing_op == 1);
}

TEST_CASE("operators of other threads do not enclose a launch") {
  const auto trace =
      read(document(event("cpu_op", "elsewhere", "0", "100", "", R"("pid":1,"tid":3)") + "," +
                    call("cudaLaunchKernel", "12", "5") + "," + launched("k", "40", "5", "5")));
  CHECK(trace.records.kernels.at(0).op.empty());
  CHECK(trace.statistics.joins.with_call == 1);
}

TEST_CASE("every kernel of a graph launch survives") {
  const auto trace =
      read(document(call("hipGraphLaunch", "1", "9") + "," + launched("b", "30", "9", "0") + "," +
                    launched("a", "20", "9", "0") + "," + launched("a", "40", "9", "0")));
  REQUIRE(trace.records.kernels.size() == 3);
  for (const auto& k : trace.records.kernels) {
    CHECK(k.launch == stream::Launch::graph);
    CHECK(k.issue_ns == 1000);
  }
  CHECK(trace.records.kernels[0].start_ns == 20000); // equal issue: by start
  CHECK(trace.statistics.joins.by_graph == 3);
}

TEST_CASE("a correlation of -1 matches nothing") {
  const auto trace =
      read(document(op("o", "0", "100", "1") + "," + call("hipLaunchKernel", "1", "-1") + "," +
                    launched("k", "30", "-1", "1")));
  CHECK(trace.records.kernels.at(0).op.empty());
  CHECK(trace.statistics.joins.with_call == 0);
}

TEST_CASE("kernels come in order of issue, not of the file or of their start") {
  const auto trace =
      read(document(call("cudaLaunchKernel", "3", "2") + "," + call("cudaLaunchKernel", "1", "1") +
                    "," + launched("second", "10", "2", "0") + "," +
                    launched("first", "20", "1", "0") + "," + kernel("unlaunched", "2", "1")));
  REQUIRE(trace.records.kernels.size() == 3);
  CHECK(trace.records.kernels[0].name == "first");      // issued at 1
  CHECK(trace.records.kernels[1].name == "unlaunched"); // started at 2
  CHECK(trace.records.kernels[2].name == "second");     // issued at 3
}

TEST_CASE("waits say who waits for whom") {
  const auto wait = [](const std::string& name, const std::string& args) {
    return event("cuda_sync", name, "5", "1", R"("device":0,)" + args, R"("pid":0,"tid":20)");
  };
  const auto stream_waits = read(
      document(call("cudaStreamWaitEvent", "4", "8") + "," +
               wait("Stream Wait Event", R"("wait_on_stream":7,"stream":20,"correlation":8)")));
  REQUIRE(stream_waits.records.syncs.size() == 1); // the call itself is not counted again
  CHECK(stream_waits.records.syncs[0].waiting == stream::StreamId{0, 20});
  CHECK(stream_waits.records.syncs[0].awaited == stream::StreamId{0, 7});
  CHECK_FALSE(stream_waits.records.syncs[0].host_waits);

  const auto stream_sync = read(document(wait("Stream Sync", R"("stream":7)")));
  CHECK(stream_sync.records.syncs.at(0).host_waits);
  CHECK(stream_sync.records.syncs.at(0).awaited == stream::StreamId{0, 7});

  const auto context_sync = read(document(wait("Context Sync", R"("stream":4294967295)")));
  CHECK(context_sync.records.syncs.at(0).host_waits);
  CHECK_FALSE(context_sync.records.syncs.at(0).awaited.has_value());
}

TEST_CASE("synchronising calls without a device entry are waits of the host") {
  const auto trace = read(document(event("kernel", "k", "1", "1", R"("device":2,"stream":7)") +
                                   "," + call("hipDeviceSynchronize", "4", "8") + "," +
                                   call("hipStreamWaitEvent", "5", "9")));
  REQUIRE(trace.records.syncs.size() == 1);
  CHECK(trace.records.syncs[0].waiting.device == 2); // that of the last kernel
  CHECK(trace.records.syncs[0].host_waits);
  CHECK(trace.oddity("wait-without-stream") == 1);
}

TEST_CASE("user annotations are marks") {
  const auto trace = read(document(event("user_annotation", "ProfilerStep#6", "4", "8", "")));
  REQUIRE(trace.records.marks.size() == 1);
  CHECK(trace.records.marks[0].time_ns == 4000);
  CHECK(trace.records.marks[0].name == "ProfilerStep#6");
}
