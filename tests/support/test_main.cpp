#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/support/shared_data.h"

namespace {
constexpr int kSkipped = 77;
}

// SystemC's library refers to this symbol even when another main starts the program.
extern "C" int sc_main(int, char**) {
  return 0;
}

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  if (failed != 0) return failed;
  return umf::test::lacked_a_file() ? kSkipped : 0;
}
