#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/app/samples.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <memory>

using namespace umf::test;
using Catch::Contains;

namespace {

/// What bash offers after `words`, the last of which is being typed.
std::string offered(const Folder& folder, const std::string& words) {
  folder.write("ask.sh", ". ./umfsim.bash\nCOMP_WORDS=(" + words +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_umfsim\n"
                             "echo \"${COMPREPLY[*]}\"\n");
  const std::string command = "cd '" + folder.path().string() + "' && LC_ALL=C bash ask.sh 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  char part[4096];
  while (std::fgets(part, sizeof part, pipe.get()) != nullptr)
    text += part;
  return text;
}

} // namespace

TEST_CASE("bash completes verbs, flags, their values and files", "[app]") {
  Folder folder;
  folder.write("umfsim.bash", umfsim({"completion", "bash"}, folder.path()).out);
  folder.write("trace.jsonl", plain_trace(1));
  CHECK(offered(folder, "umfsim rep") == "replay\n");
  CHECK(offered(folder, "umfsim replay --sc") == "--scenario\n");
  CHECK(offered(folder, "umfsim replay --format j") == "json\n");
  CHECK(offered(folder, "umfsim replay --policy hbm") == "hbm-only\n");
  CHECK(offered(folder, "umfsim describe tier.h") == "tier.hbm tier.host\n");
  CHECK(offered(folder, "umfsim inspect tr") == "trace.jsonl\n");
}

TEST_CASE("zsh's completion and the manual page name every verb and flag", "[app]") {
  Folder folder;
  const std::string zsh = umfsim({"completion", "zsh"}, folder.path()).out;
  CHECK_THAT(zsh, Contains("#compdef umfsim"));
  const std::string man = umfsim({"man"}, folder.path()).out;
  CHECK_THAT(man, Contains(".TH UMFSIM 1"));
  for (const std::string verb : {"replay", "inspect", "convert", "describe", "schema", "check",
                                 "tables", "regress", "generate"}) {
    CHECK_THAT(zsh, Contains("'" + verb + ":"));
    CHECK_THAT(man, Contains(".SS umfsim " + verb));
  }
  CHECK_THAT(zsh, Contains("'*--scenario["));
  CHECK_THAT(man, Contains("\\-\\-scenario"));
}
