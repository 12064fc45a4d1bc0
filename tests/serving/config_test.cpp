#include "model/base/error.h"
#include "model/serving/config.h"

#include <catch2/catch.hpp>

using namespace umf;
using namespace umf::serving;

TEST_CASE("a class of service is read, or refused with what is expected") {
  const ServiceClass chat = parse_class("chat 0.8 2s 50ms");
  CHECK(chat.name == "chat");
  CHECK(chat.share == 0.8);
  CHECK(chat.ttft.nanoseconds() == 2e9);
  CHECK(chat.tpot.nanoseconds() == 5e7);
  for (const char* wrong : {"", "chat", "chat 0.8 2s", "chat 0 2s 50ms", "chat 1.5 2s 50ms",
                            "chat 0.8 2s 50ms more", "chat x 2s 50ms", "chat 0.8 2 50ms"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_class(wrong), UserError);
  }
}

TEST_CASE("shares of classes that do not add up, and blocks that do not divide, are faults") {
  const auto is_faulty = [](const Config& config) {
    KeyContext context;
    check(config, "/serving", context);
    return context.faulty();
  };
  Config config;
  CHECK_FALSE(is_faulty(config));
  config.classes = {"a 0.5 1s 1s", "b 0.4 1s 1s"};
  CHECK(is_faulty(config));
  config.classes = {"a 0.5 1s 1s", "b 0.5 1s 1s"};
  config.block = 16;
  CHECK_FALSE(is_faulty(config));
  config.block = 24; // 512 is no multiple of 24
  CHECK(is_faulty(config));
}
