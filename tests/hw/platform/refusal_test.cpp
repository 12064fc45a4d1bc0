#include "tests/hw/support/machine.h"

#include <catch2/catch.hpp>

/// Faults that show while time runs are the user's to read, not SystemC's to report.
namespace umf::test {

using Catch::Matchers::Contains;

TEST_CASE("a tensor that cannot be placed in mid-run ends the run with a UserError") {
  // The second kernel starts inside the simulation, where its tensor finds no room.
  CHECK_THROWS_WITH(replay(machine(R"({"tiers": {"hbm": {"capacity": "64MiB"}}})"),
                           {tensor(1, 32_MiB), tensor(2, 64_MiB), kernel(1, {reads(1, 32_MiB)}),
                            kernel(2, {writes(2, 64_MiB)})}),
                    Contains("tensor \"t2\" does not fit") && Contains("33554432 B free"));
}

TEST_CASE("a tensor that cannot be placed at the start does the same") {
  CHECK_THROWS_AS(replay(machine(R"({"tiers": {"hbm": {"capacity": "64MiB"}}})"),
                         {tensor(1, 65_MiB), kernel(1, {reads(1, 65_MiB)})}),
                  UserError);
}

TEST_CASE("weights that do not fit are refused before time starts") {
  CHECK_THROWS_WITH(replay(machine(R"({"tiers": {"hbm": {"capacity": "64MiB"}}})"),
                           {tensor(1, 65_MiB, stream::Role::weight), kernel(1, {reads(1, 1_MiB)})}),
                    Contains("does not fit"));
}

TEST_CASE("an access beyond its tensor names both") {
  CHECK_THROWS_WITH(replay(machine(), {tensor(1, 1_MiB), kernel(1, {reads(1, 1_MiB, 1)})}),
                    Contains("\"k1\"") && Contains("tensor \"t1\""));
}

TEST_CASE("a tensor that no record declares is refused by number") {
  CHECK_THROWS_WITH(replay(machine(), {kernel(1, {reads(7, 1_MiB)})}), Contains("tensor 7"));
}

} // namespace umf::test
