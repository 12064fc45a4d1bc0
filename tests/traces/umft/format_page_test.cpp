#include "tests/support/shared_data.h"
#include "tests/traces/umft/makers.h"
#include "tests/traces/umft/random_records.h"
#include "traces/umft/format.h"
#include "traces/umft/writer.h"

#include <catch2/catch.hpp>
#include <sstream>

using namespace umf;
using namespace umf::stream;
using namespace umf::test;
using namespace umf::traces::umft;

namespace {

std::string page() {
  return bytes_of(source_file("traces/umft/FORMAT.md"));
}

/// The lines of the page's dump, "offset  bytes ; note", as bytes.
std::string dump_of_page() {
  const std::string text = page();
  const auto start = text.find("```hexdump\n");
  REQUIRE(start != std::string::npos);
  std::istringstream lines(text.substr(start + 11, text.find("```\n", start + 11) - start - 11));
  std::string bytes;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find(';')));
    std::string word;
    words >> word;
    REQUIRE(std::stoul(word, nullptr, 16) == bytes.size());
    while (words >> word)
      bytes.push_back(static_cast<char>(std::stoul(word, nullptr, 16)));
  }
  return bytes;
}

template <class Enum>
void require_table_of(const std::string& title) {
  const std::string text = page();
  const auto start = text.find("**" + title + "**");
  REQUIRE(start != std::string::npos);
  const std::string line = text.substr(start, text.find('\n', start) - start);
  std::string expected = "**" + title + "**:";
  for (std::uint8_t i = 0; i < kCodes<Enum>; ++i)
    expected += (i == 0 ? " " : ", ") + std::to_string(i) + " " +
                std::string(name_of(static_cast<Enum>(i)));
  REQUIRE(line == expected);
}

} // namespace

TEST_CASE("the format page's dump is what the writer writes") {
  const TemporaryFolder folder;
  Header header = make_header("hand");
  header.epoch_unix_ns = 1;
  Writer writer(folder / "tiny.umft", header);
  Tensor tensor = make_tensor(7, "w", Role::weight, Bytes{64});
  tensor.dtype = DType::f16;
  tensor.shape = {4, 8};
  tensor.layer = 0;
  writer.write(tensor);
  Kernel kernel = make_kernel(300, "gemm", 1000, 1250);
  kernel.flops = 512;
  kernel.flops_dtype = DType::f16;
  kernel.rule = Rule::gemm;
  kernel.accesses.push_back(make_access(7, Rule::gemm, Bytes{64}));
  writer.write(kernel);
  writer.finish();
  REQUIRE(dump_of_page() == bytes_of(folder / "tiny.umft"));
}

TEST_CASE("the format page's codes are those of the enumerations") {
  require_table_of<Role>("role");
  require_table_of<DType>("dtype");
  require_table_of<Phase>("phase");
  require_table_of<Launch>("launch");
  require_table_of<Pattern>("pattern");
  require_table_of<CopyKind>("copy kind");
  require_table_of<Rule>("rule");
}
