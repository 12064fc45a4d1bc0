#include "tests/support/shared_data.h"
#include "tests/traces/kineto/counts.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>

using namespace umf;

namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');)
    cells.push_back(cell);
  return cells;
}

using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const auto names = cells(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i)
      row[names[i]] = values[i];
  }
  return rows;
}

/// Columns measured on the JSON text and not on records.
bool is_of_the_text(const std::string& column) {
  return column == "file" || column == "raw_bytes" || column == "ts_types";
}

} // namespace

TEST_CASE("every column of the table of expected counts is reproduced") {
  const auto table = test::shared_file("data/traces/kineto_expected.tsv");
  if (!table) return;
  const auto rows = rows_of(*table);
  REQUIRE(rows.size() == 20);
  for (const auto& row : rows) {
    const auto path = *test::shared_file("data/traces/" + row.at("file"));
    // The least memory makes every sort and log of the larger files spill.
    for (const auto memory : {64_MiB, 64_KiB}) {
      auto source = traces::kineto::read_kineto(traces::io::Input::open(path), {memory});
      const auto counts = test::counts_of(*source, test::drain(*source));
      for (const auto& [column, expected] : row) {
        if (is_of_the_text(column) || expected.empty()) continue;
        INFO(row.at("file") << " " << column << " with " << memory.count << " bytes of memory");
        REQUIRE(counts.count(column) == 1);
        CHECK(counts.at(column) == expected);
      }
    }
  }
}

TEST_CASE("records of real traces are sound") {
  for (const char* name :
       {"h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "b200_eager_trace.json.gz",
        "trace_diff_control_control.json.gz", "mi300_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}) {
    const auto path = test::shared_file(std::string("data/traces/kineto/") + name);
    if (!path) return;
    const auto source = traces::kineto::open_kineto(*path);
    const auto records = test::drain(*source);
    std::map<stream::TensorId, stream::Tensor> live;
    std::uint64_t declared = 0;
    bool odd = false;
    for (const auto& record : records.all) {
      INFO(name);
      odd = odd || std::holds_alternative<stream::Oddity>(record);
      if (odd) REQUIRE(std::holds_alternative<stream::Oddity>(record));
      if (const auto* tensor = std::get_if<stream::Tensor>(&record)) {
        REQUIRE(tensor->id == declared++);
        live[tensor->id] = *tensor;
      }
      if (const auto* freed = std::get_if<stream::Free>(&record)) {
        REQUIRE(live.at(freed->tensor).role == stream::Role::activation);
        live.erase(freed->tensor);
      }
      if (const auto* kernel = std::get_if<stream::Kernel>(&record)) {
        REQUIRE((kernel->rule == stream::Rule::unknown) == kernel->accesses.empty());
        for (const auto& access : kernel->accesses) {
          REQUIRE(access.length.count > 0);
          REQUIRE(access.length <= live.at(access.tensor).bytes);
        }
      }
    }
    for (const auto& [id, tensor] : live)
      REQUIRE(tensor.role == stream::Role::weight);
  }
}
