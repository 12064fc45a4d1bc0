#include "app/validate/run.h"

#include "app/run/apart.h"
#include "model/base/json.h"
#include "model/base/nearest.h"
#include "traces/places.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;

const ValidationSuite& suite_named(const std::string& name) {
  for (const ValidationSuite& suite : validation_suites())
    if (suite.name == name) return suite;
  throw UserError(fmt::format("--suite: no suite {}, {}", in_quotes(name),
                              suggestion(name, validation_suite_names())));
}

/// A figure measured by the user in place of a published one.
struct OtherReference {
  double value = 0;
  int line = 0;
  bool used = false;
};
using OtherReferences = std::map<std::pair<std::string, std::string>, OtherReference>;

[[noreturn]] void wrong_line(const std::string& file, int line, const std::string& what) {
  Place place = traces::place_of(file);
  place.line = line;
  throw UserError(place, what);
}

OtherReferences read_references(const std::string& file) {
  OtherReferences references;
  if (file.empty()) return references;
  const Csv csv = read_data(file);
  const DataColumn suite(csv, "suite"), id(csv, "id"), reference(csv, "reference");
  for (const Csv::Row& row : csv.rows) {
    suite_named(suite.text(row));
    const double value = reference.number(row);
    if (!(value > 0))
      wrong_line(file, row.line, fmt::format("reference {}, expected one above 0", value));
    if (!references.try_emplace({suite.text(row), id.text(row)}, OtherReference{value, row.line})
             .second)
      wrong_line(
          file, row.line,
          fmt::format("{} is there twice, expected a reference a row", in_quotes(id.text(row))));
  }
  return references;
}

std::string packed(const std::vector<Row>& rows) {
  Json all = Json::array();
  for (const Row& row : rows)
    all.push_back({row.id, row.group, row.what, row.unit, row.reference, row.simulated,
                   row.peak ? Json(*row.peak) : Json()});
  const auto bytes = Json::to_msgpack(all);
  return {bytes.begin(), bytes.end()};
}

std::vector<Row> unpacked(const std::string& text) {
  std::vector<Row> rows;
  for (const Json& row : Json::from_msgpack(text)) {
    rows.push_back({row[0], row[1], row[2], row[3], row[4], row[5], std::nullopt});
    if (!row[6].is_null()) rows.back().peak = row[6].get<double>();
  }
  return rows;
}

/// Only the rows that the user has a figure for, held against it.
void replace_references(SuiteResult& result, OtherReferences& references) {
  std::vector<Row> kept;
  for (Row& row : result.rows) {
    const auto found = references.find({result.published.suite, row.id});
    if (found == references.end()) continue;
    found->second.used = true;
    row.reference = found->second.value;
    kept.push_back(std::move(row));
  }
  result.rows = std::move(kept);
}

void refuse_unused(const std::string& file, const OtherReferences& references,
                   const std::vector<SuiteResult>& results) {
  for (const auto& [key, reference] : references)
    for (const SuiteResult& result : results)
      if (!reference.used && result.published.suite == key.first &&
          result.status != SuiteResult::Status::skipped)
        wrong_line(file, reference.line,
                   fmt::format("suite {} has no row {}, expected an id of its table", key.first,
                               in_quotes(key.second)));
}

/// What of its data is not there; empty: nothing lacks.
std::string lacking(const Published& published, const DataFolder& data) {
  for (const auto& [name, path] : published.data)
    if (!data.has(path))
      return fmt::format("no file {} (--data FOLDER says where measured data lie)",
                         data.path(path));
  return {};
}

} // namespace

std::vector<SuiteResult> validate(const ValidationRequest& request) {
  OtherReferences references = read_references(request.against);
  const DataFolder data(request.data);
  std::vector<std::string> names = request.suites;
  if (names.empty())
    for (const std::string& name : validation_suite_names())
      if (request.against.empty() ||
          std::any_of(references.begin(), references.end(),
                      [&](const auto& reference) { return reference.first.first == name; }))
        names.push_back(name);

  std::vector<SuiteResult> results;
  for (const std::string& name : names) {
    suite_named(name);
    results.emplace_back();
    results.back().published = read_published(request.published, name);
    results.back().message = lacking(results.back().published, data);
    if (!results.back().message.empty()) results.back().status = SuiteResult::Status::skipped;
  }
  std::vector<Job> jobs;
  for (const SuiteResult& result : results)
    if (result.status != SuiteResult::Status::skipped)
      jobs.push_back({"suite " + result.published.suite, [&] {
                        const Study study{result.published, data};
                        return packed(suite_named(result.published.suite).run(study));
                      }});
  const std::vector<Outcome> outcomes = run_apart(jobs);
  std::size_t next = 0;
  for (SuiteResult& result : results) {
    if (result.status == SuiteResult::Status::skipped) continue;
    const Outcome& outcome = outcomes[next++];
    if (outcome.refused) throw UserError(outcome.text);
    result.rows = unpacked(outcome.text);
    if (!request.against.empty()) replace_references(result, references);
    for (const Row& row : result.rows)
      ensure(row.reference > 0 && std::isfinite(row.simulated), "a row without figures");
    judge(result, !request.against.empty());
  }
  refuse_unused(request.against, references, results);
  return results;
}

} // namespace umf::app
