#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

using namespace umf::test;

TEST_CASE("the golden tables of this repository are as they were", "[app]") {
  Folder folder;
  const Ended ended = umfsim({"regress", source_file("results/golden").string()}, folder.path());
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  CHECK_THAT(ended.out, Catch::Contains("break-even, 24 rows, as they were\n"));
  CHECK(folder.entries().empty());
}
