#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include "tests/app/child.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

using namespace umf::test;

namespace {

/// Waits until `happened`, at most half a minute.
bool soon(const std::function<bool()>& happened) {
  for (int tries = 0; tries < 30000; ++tries) {
    if (happened()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Enough work to be in the middle of it when the signal comes.
constexpr unsigned kMany = 200'000;

} // namespace

TEST_CASE("an interrupted replay ends with 130 and leaves nothing", "[app]") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  Folder folder;
  folder.write("t.jsonl", plain_trace(kMany));
  Child child(
      {"replay", "t.jsonl", "--scenario", preset("h100-sxm"), "--out", "out", "--progress", "json"},
      folder.path());
  REQUIRE(soon([&] { return !child.err_so_far().empty(); })); // it simulates

  child.send(signal);
  const Ended ended = child.wait();

  CHECK(ended.status == 130);
  CHECK(ended.out.empty());
  CHECK_THAT(ended.err, Catch::EndsWith("umfsim: interrupted; nothing was written\n"));
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("an interrupted convert ends with 130 and leaves nothing", "[app]") {
  const std::string out = GENERATE("t.umft", "copy.jsonl");
  Folder folder;
  folder.write("t.jsonl", plain_trace(kMany));
  Child child({"convert", "t.jsonl", out}, folder.path());
  REQUIRE(soon([&] { return folder.entries().size() > 1; })); // the unfinished file is there

  child.send(SIGINT);
  const Ended ended = child.wait();

  CHECK(ended.status == 130);
  CHECK(ended.out.empty());
  CHECK(folder.entries() == std::set<std::string>{"t.jsonl"});
}

TEST_CASE("a convert that is interrupted leaves the file it would have replaced", "[app]") {
  Folder folder;
  folder.write("t.jsonl", plain_trace(kMany));
  folder.write("old.umft", "precious");
  Child child({"convert", "t.jsonl", "old.umft"}, folder.path());
  REQUIRE(soon([&] { return folder.entries().size() > 2; }));

  child.send(SIGINT);

  CHECK(child.wait().status == 130);
  CHECK(folder.read("old.umft") == "precious");
}
