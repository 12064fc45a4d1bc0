#include "tests/app/folder.h"
#include "tests/app/refusal.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace umf::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

std::vector<std::string> serve(const std::vector<std::string>& more,
                               const std::string& requests = "poisson",
                               const std::string& machine = "h100-sxm") {
  std::vector<std::string> arguments = {"serve-sim",  requests,        "--model",  "llama-3-8b",
                                        "--scenario", preset(machine), "--format", "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Few enough requests that every test is quick.
const std::vector<std::string> kFew = {"--set", "serving.poisson.requests=12",
                                       "--set", "serving.poisson.rate=4Hz",
                                       "--set", "serving.poisson.output=24"};

std::vector<std::string> few(const std::vector<std::string>& sets) {
  std::vector<std::string> more = kFew;
  for (const std::string& set : sets)
    more.insert(more.end(), {"--set", set});
  return more;
}

Json served(const Folder& folder, const std::vector<std::string>& arguments) {
  const Ended ended = umfsim(arguments, folder.path());
  INFO(ended.err);
  REQUIRE(ended.status == 0);
  return Json::parse(ended.out);
}

std::string request_line(int ms, int prompt, int output, const std::string& blocks) {
  return "{\"timestamp\": " + std::to_string(ms) + ", \"input_length\": " + std::to_string(prompt) +
         ", \"output_length\": " + std::to_string(output) + ", \"hash_ids\": [" + blocks + "]}\n";
}

} // namespace

TEST_CASE("requests are served, and every book balances", "[app]") {
  Folder folder;
  const Json summary = served(folder, serve(kFew));
  CHECK(summary.at("ledger").at("ok") == true);
  CHECK(summary.at("requests").at("done") == 12);
  CHECK(folder.entries() == std::set<std::string>{"umfsim-out/", "umfsim-out/requests.csv",
                                                  "umfsim-out/run.json",
                                                  "umfsim-out/summary.json"});
  // A token reads all weights but the embedding, 15 GB of bf16, at most at 3.35 TB/s.
  CHECK(summary.at("latency").at("tpot_ms").at("p50").get<double>() > 15.0e9 / 3.35e9);
  // 24 output tokens in the mean, 23 gaps of some 6 ms: an hour's clock would be a fault.
  CHECK(summary.at("latency").at("end_to_end_ms").at("max").get<double>() < 2000);
}

TEST_CASE("the same seed serves the same bytes, another one other requests", "[app]") {
  Folder folder;
  REQUIRE(umfsim(serve(kFew), folder.path()).status == 0);
  const std::string first = folder.read("umfsim-out/summary.json"),
                    rows = folder.read("umfsim-out/requests.csv");
  REQUIRE(umfsim(serve(kFew), folder.path()).status == 0);
  CHECK(folder.read("umfsim-out/summary.json") == first);
  CHECK(folder.read("umfsim-out/requests.csv") == rows);
  auto other = serve(kFew);
  other.insert(other.end(), {"--seed", "2"});
  REQUIRE(umfsim(other, folder.path()).status == 0);
  CHECK(folder.read("umfsim-out/requests.csv") != rows);
}

// The issue allows 3 % on percentiles.
TEST_CASE("folded layers and iterations are within 3 % of the unfolded run", "[app]") {
  Folder folder;
  auto arguments = serve(few({"serving.poisson.requests=6", "serving.poisson.rate=20Hz"}));
  arguments.insert(arguments.end(), {"--check-folding", "6"});
  const Json fold = served(folder, arguments).at("fold");
  CHECK(fold.at("layers").get<int>() >= 32 * fold.at("layers_simulated").get<int>());
  CHECK(std::abs(fold.at("error").at("worst").get<double>()) < 0.03);
}

TEST_CASE("a prefix that was computed is not computed again", "[app]") {
  Folder folder;
  std::string trace;
  for (int i = 0; i < 3; ++i)
    trace += request_line(10000 * i, 2048 + 100, 4, "1, 2, 3, 4, " + std::to_string(10 + i));
  folder.write("r.jsonl", trace);
  const Json summary = served(folder, serve({}, "r.jsonl"));
  // Four whole blocks of 512 of the second and the third request.
  CHECK(summary.at("tokens").at("cached") == 2 * 2048);
  CHECK(summary.at("tokens").at("computed") == 3 * 2148 - 2 * 2048 + 3 * 3);
}

TEST_CASE("every key of serving has an effect", "[app]") {
  Folder folder;
  std::string trace;
  for (int i = 0; i < 8; ++i)
    trace += request_line(20 * i, 3000 + 700 * (i % 3), 20, "1, 2, 3, 4, 5, 6");
  folder.write("r.jsonl", trace);
  const auto figures = [&](const std::string& requests, const std::vector<std::string>& sets) {
    std::vector<std::string> more;
    for (const std::string& set : sets)
      more.insert(more.end(), {"--set", set});
    Json summary = served(folder, serve(more, requests, "umf-small-hbm"));
    for (const char* limit : {"ttft_limit_ms", "tpot_limit_ms", "share", "name"})
      for (Json& one : summary.at("classes"))
        one.erase(limit);
    for (const char* echo : {"block_tokens", "block_bytes"})
      summary.at("kv_cache").erase(echo);
    summary.erase("scenario");
    return summary.dump();
  };
  const std::string kTight = "serving.pool_share=0.067"; // some 50 blocks
  // One floods, and few sequences run: somebody waits.
  const std::vector<std::string> kTenants = {
      "serving.tenants=[\"a 900/9 12Hz default 1\",\"b 100/9 6Hz default 1\"]",
      "serving.tenant_time=2s", "serving.max_sequences=1"};
  const struct {
    std::string requests, set;
    std::vector<std::string> base;
  } keys[] = {
      {"r.jsonl", "serving.block=256", {}},
      {"r.jsonl", "serving.trace_block=1024", {}},
      {"r.jsonl", "serving.max_batched_tokens=512", {}},
      {"r.jsonl", "serving.max_sequences=2", {}},
      {"r.jsonl", "serving.prefix_cache=false", {}},
      {"r.jsonl", "serving.watermark=0.5", {kTight}},
      {"r.jsonl", "serving.hbm_share=0.5", {}},
      {"r.jsonl", "serving.pool_share=0.5", {}},
      {"r.jsonl", "serving.classes=[\"default 1 1000s 1000s\"]", {}},
      {"r.jsonl", "serving.fold_layers=false", {}},
      {"r.jsonl", "serving.fold_steady=1", {}},
      {"r.jsonl", "serving.fold_alike=0", {"serving.fold_alike=0.3"}},
      {"r.jsonl", "serving.check_alike=2", {"serving.fold_alike=0.3"}},
      {"r.jsonl", "serving.utilisation_window=20ms", {"serving.utilisation_window=10ms"}},
      {"tenants", "serving.tenants=[\"a 900/9 2Hz default 1\"]", kTenants},
      {"tenants", "serving.tenant_time=1s", kTenants},
      {"tenants", "serving.fairness=tokens", kTenants},
      {"poisson", "serving.poisson.rate=3Hz", {"serving.poisson.requests=4"}},
      {"poisson", "serving.poisson.requests=5", {"serving.poisson.requests=4"}},
      {"poisson", "serving.poisson.prompt=2000", {"serving.poisson.requests=4"}},
      {"poisson", "serving.poisson.output=20", {"serving.poisson.requests=4"}},
      {"poisson", "serving.poisson.spread=0.1", {"serving.poisson.requests=4"}},
  };
  for (const auto& key : keys) {
    CAPTURE(key.set);
    auto with = key.base;
    with.push_back(key.set);
    CHECK(figures(key.requests, with) != figures(key.requests, key.base));
  }
}

TEST_CASE("what cannot be served is refused in a line", "[app]") {
  Folder folder;
  folder.write("k.jsonl", kStreamHeader + tensor_line(1, 64) + kernel_line(1, 1, 64));
  folder.write("bad.jsonl", request_line(0, 5, 5, "") + "{\"timestamp\": 0}\n");
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& said) {
    const Ended ended = umfsim(arguments, folder.path());
    CAPTURE(ended.err);
    check_refused(ended);
    CHECK_THAT(ended.err, Contains(said));
  };
  refused(serve({}, "k.jsonl"), "no request in it, expected a trace of requests");
  refused(serve({}, "bad.jsonl"), "bad.jsonl:2: no \"input_length\"");
  refused(serve({}, "missing.jsonl"), "missing.jsonl");
  auto unknown = serve(kFew);
  unknown[3] = "llama-3-9b";
  refused(unknown, "did you mean \"llama-3-8b\"");
  auto large = serve(kFew);
  large[3] = "llama-3-405b";
  refused(large, "do not fit in");
  auto odd = serve(kFew);
  odd.insert(odd.end(), {"--tp", "3"});
  refused(odd, "3");
  refused(serve(few({"serving.block=300"})), "expected a divisor");
  refused(serve(few({"serving.classes=[\"a 2 1s 1s\"]"})), "expected a name, a share");
  refused({"replay", "bad.jsonl", "--scenario", preset("h100-sxm")}, "bad.jsonl");
}

TEST_CASE("requests alone are nothing to replay", "[app]") {
  Folder folder;
  folder.write("r.jsonl", request_line(0, 100, 5, ""));
  const Ended ended =
      umfsim({"replay", "r.jsonl", "--scenario", preset("h100-sxm")}, folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, Contains("requests and no kernels, expected serve-sim"));
}

TEST_CASE("a request longer than the model or the cache is counted and the others are served",
          "[app]") {
  Folder folder;
  folder.write("r.jsonl", request_line(0, 100, 5, "") + request_line(1, 200000, 5, "") +
                              request_line(2, 100, 5, ""));
  const Json summary = served(folder, serve({}, "r.jsonl"));
  CHECK(summary.at("requests").at("done") == 2);
  CHECK(summary.at("requests").at("too_long") == 1); // llama-3-8b takes 131,072 tokens
  CHECK(summary.at("requests").at("oddities").size() == 0);
}

TEST_CASE("several tenants have latencies, shares and fairness of their own", "[app]") {
  Folder folder;
  const Json summary =
      served(folder, serve({"--set",
                            R"(serving.tenants=["long 900/9 8Hz gold 1","short 100/9 8Hz rest 2"])",
                            "--set", R"(serving.classes=["gold 0.5 1s 50ms","rest 0.5 2s 50ms"])",
                            "--set", "serving.tenant_time=2s"},
                           "tenants"));
  CHECK(summary.at("ledger").at("ok") == true);
  const Json& tenants = summary.at("tenants");
  REQUIRE(tenants.size() == 2);
  CHECK(tenants[0].at("name") == "long");
  CHECK(tenants[1].at("class") == "rest");
  CHECK(tenants[0].at("requests").get<int>() + tenants[1].at("requests").get<int>() ==
        summary.at("requests").at("done").get<int>());
  CHECK(tenants[0].at("share_of_tokens").get<double>() +
            tenants[1].at("share_of_tokens").get<double>() ==
        Approx(1.0));
  CHECK(tenants[0].at("ttft_ms").contains("p99"));
  // (x + y)^2 / (2 (x^2 + y^2)) of tokens over weights 1 and 2.
  const double x = tenants[0].at("served_tokens").get<double>(),
               y = tenants[1].at("served_tokens").get<double>() / 2;
  CHECK(summary.at("fairness").at("jain_tokens").get<double>() ==
        Approx((x + y) * (x + y) / (2 * (x * x + y * y))));
  for (const char* what : {"busy", "memory", "arithmetic"}) {
    const Json& part = summary.at("utilisation").at(what);
    CHECK(part.at("min") <= part.at("mean"));
    CHECK(part.at("mean") <= part.at("max"));
    CHECK(part.at("max").get<double>() <= 1.0 + 1e-9); // all in HBM, little of it in the L2
  }
  const std::string rows = folder.read("umfsim-out/requests.csv");
  CHECK_THAT(rows, Contains(",preemptions,tenant\n"));
  CHECK_THAT(rows, Contains(",short\n"));
}

TEST_CASE("a tenant's requests may be a trace's", "[app]") {
  Folder folder;
  folder.write("r.jsonl", request_line(0, 100, 5, "") + request_line(1, 200, 5, ""));
  const Json summary =
      served(folder, serve({"--set",
                            R"(serving.tenants=["log trace:r.jsonl recorded default 1",)"
                            R"("own 100/5 2Hz default 1"])",
                            "--set", "serving.tenant_time=1s"},
                           "tenants"));
  CHECK(summary.at("tenants")[0].at("requests") == 2);
}

TEST_CASE("tenants of a class that there is not are refused", "[app]") {
  Folder folder;
  const Ended ended =
      umfsim(serve({"--set", R"(serving.classes=["gold 1 1s 50ms"])"}, "tenants"), folder.path());
  check_refused(ended);
  CHECK_THAT(ended.err, Contains("tenant \"code\" is of class \"default\""));
}
