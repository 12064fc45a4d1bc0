#include "hw/pcie/pcie.h"
#include "model/base/json.h"

#include <catch2/catch.hpp>

/// Changes of a link's speed and width: how they are written, and what they make of its rate.
namespace umf::test {

using Catch::Matchers::Contains;
using hw::parse_training;

namespace {

hw::Link::Options changed(const std::string& changes, std::string* faults = nullptr) {
  KeyContext context;
  const JsonValue object =
      parse_json(R"({"from":"gpu0","to":"sw0","generation":5,"width":16,"training":{"changes":)" +
                     changes + "}}",
                 "f");
  const auto config = hw::pcie_link_component().read(object, context);
  hw::Link::Options options = hw::pcie_link(config, "l");
  hw::add_changes(options, config.training, config.generation, config.width, "/training", context);
  try {
    context.throw_if_faulty();
  } catch (const UserErrors& error) {
    if (faults == nullptr) throw;
    *faults = error.what();
  }
  return options;
}

std::string faults_of(const std::string& changes) {
  std::string faults;
  changed(changes, &faults);
  return faults;
}

} // namespace

TEST_CASE("a change of a link is a time, a generation and a width") {
  CHECK(parse_training("2ms gen4 x8") == hw::LinkTraining{2000000_ns, 4, 8});
  CHECK(parse_training("0ns gen1 x1") == hw::LinkTraining{0_ns, 1, 1});
  for (const char* text : {"", "2ms", "2ms gen4", "2ms gen4 x", "2ms gen4 x8 ", "2ms gen x8",
                           "2ms x8 gen4", "2ms gen4 x100", "2ms gen4  x8", "2ms gen-4 x8"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_training(text), Contains("expected a time, a generation and a width"));
  }
  CHECK_THROWS_WITH(parse_training("2 gen4 x8"), Contains("expected a time"));
}

TEST_CASE("errors are a time, their share of packets and how long they last") {
  CHECK(parse_training("3ms errors 1e-3 for 2ms") ==
        hw::LinkTraining{3000000_ns, 0, 0, 1e-3, 2000000_ns});
  CHECK(parse_training("0ns errors 0.5 for 1ns") == hw::LinkTraining{0_ns, 0, 0, 0.5, 1_ns});
  for (const char* text :
       {"3ms errors", "3ms errors 0 for 2ms", "3ms errors 0.6 for 2ms", "3ms errors 1e-3",
        "3ms errors 1e-3 for", "3ms errors 1e-3 2ms", "3ms errors x for 2ms",
        "3ms errors 1e-3 for 0ns", "3ms errors 1e-3 for 2ms more", "3ms errors -1 for 2ms"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_training(text), Contains("such as \"3ms errors 1e-3 for 2ms\""));
  }
}

TEST_CASE("go-back-N leaves a share of the rate") {
  CHECK(hw::replay_share(0, 30) == 1);
  // One of ten arrives wrong and costs 9 more: 10 / 9 for each that arrives, and 9 / 9 times that.
  CHECK(hw::replay_share(0.1, 9) == Approx(0.9 / 1.9));
}

TEST_CASE("errors slow a link down for as long, at whatever speed it has then") {
  const auto options =
      changed(R"(["1us errors 1e-2 for 4us","2us gen4 x16","3us gen5 x16","9us gen4 x16"])");
  const double full = options.raw_bytes_per_second;
  REQUIRE(options.changes.size() == 5); // at 1, 2, 3, 5 and 9 us
  // 256 B of data and 20 B around them; a NAK is back after both ways.
  const auto left = [&](double raw) {
    return raw * hw::replay_share(1e-2, 2 * options.one_way.seconds() * raw / 276);
  };
  CHECK(options.changes[0].raw_bytes_per_second == Approx(left(full)));
  CHECK(options.changes[0].errors == 1e-2);
  CHECK(!options.changes[0].trains);
  CHECK(options.changes[1].raw_bytes_per_second == Approx(left(full / 2)));
  CHECK(options.changes[1].trains);
  CHECK(options.changes[2].raw_bytes_per_second == Approx(left(full)));
  CHECK(options.changes[3].at == 5000_ns);
  CHECK(options.changes[3].raw_bytes_per_second == Approx(full));
  CHECK(options.changes[3].errors == 0);
  CHECK(!options.changes[3].trains);
  CHECK(options.changes[4].raw_bytes_per_second == Approx(full / 2));
}

TEST_CASE("a link's rate changes with the transfers of its generation and its lanes") {
  const auto options = changed(R"(["1us gen4 x16","2us gen4 x8","3us gen2 x16","4us gen5 x16"])");
  const double full = options.raw_bytes_per_second;
  REQUIRE(options.changes.size() == 4);
  CHECK(options.changes[0].at == 1000_ns);
  CHECK(options.changes[0].raw_bytes_per_second == Approx(full / 2));
  CHECK(options.changes[1].raw_bytes_per_second == Approx(full / 4));
  // 5 GT/s in 8b/10b for 32 GT/s in 128b/130b.
  CHECK(options.changes[2].raw_bytes_per_second ==
        Approx(full * 5 / 32 * (8.0 / 10) / (128.0 / 130)));
  CHECK(options.changes[3].raw_bytes_per_second == Approx(full));
}

TEST_CASE("changes out of order or beyond the link are faults of their key") {
  CHECK_THAT(faults_of(R"(["2us gen4 x16","1us gen5 x16"])"),
             Contains("/training/changes: \"1us gen5 x16\" does not come after the one before it"));
  CHECK_THAT(faults_of(R"(["2us gen6 x16"])"), Contains("expected at most gen5 x16"));
  CHECK_THAT(faults_of(R"(["2us gen5 x32"])"), Contains("expected at most gen5 x16"));
  CHECK_THAT(faults_of(R"(["1us errors 0.1 for 5us","3us errors 0.2 for 1us"])"),
             Contains("begins before the errors before it end"));
  CHECK_THAT(faults_of(R"(["soon"])"), Contains("found the text \"soon\""));
}

} // namespace umf::test
