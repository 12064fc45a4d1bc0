#include "app/run/finished.h"

#include "app/version.h"
#include "model/base/error.h"
#include "model/base/json.h"
#include "traces/places.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <vector>

namespace umf::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kExpected = "expected a folder that umfsim replay wrote";

/// Sixteen hexadecimal digits; empty where it cannot be read.
std::string checksum_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (!in || !state) return {};
  XXH3_64bits_reset(state.get());
  std::vector<char> part(1 << 20);
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())), in.gcount() > 0)
    XXH3_64bits_update(state.get(), part.data(), static_cast<std::size_t>(in.gcount()));
  return in.bad() ? std::string() : fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

std::uint64_t size_of(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

std::string whole_name(const std::filesystem::path& file) {
  return std::filesystem::absolute(file).lexically_normal().string();
}

Json file_json(const std::filesystem::path& file) {
  return {{"path", whole_name(file)}, {"bytes", size_of(file)}, {"xxh3", checksum_of(file)}};
}

/// The file as it was when the run was written.
std::filesystem::path unchanged(const Json& file) {
  std::filesystem::path path = file.at("path").get<std::string>();
  if (!std::filesystem::exists(path))
    throw UserError(traces::place_of(path.string()),
                    "is no longer there, expected the trace that was replayed");
  // The size first: it costs nothing.
  if (file.at("bytes") != size_of(path) || file.at("xxh3") != checksum_of(path))
    throw UserError(traces::place_of(path.string()),
                    "has changed since it was replayed, expected the same bytes: replay it again");
  return path;
}

Json read_json(const std::filesystem::path& folder, const char* name) {
  const auto path = folder / name;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw UserError(traces::place_of(folder.string()),
                    fmt::format("has no {}, {}", name, kExpected));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    throw UserError(traces::place_of(path.string()),
                    fmt::format("is no JSON object, {}", kExpected));
  return json;
}

ReplayRequest request_in(const Json& facts) {
  const Json& told = facts.at("request");
  ReplayRequest request;
  for (const Json& trace : told.at("traces"))
    request.traces.push_back(unchanged(trace));
  if (told.contains("shapes_from")) request.shapes_from = unchanged(told.at("shapes_from"));
  request.scenario = told.at("scenario").get<std::string>();
  request.sets = told.at("sets").get<std::vector<std::string>>();
  return request;
}

/// The hash is of every key's value, so that a key this version has and that one had not counts
/// too.
void require_same_machine(const FinishedRun& run) {
  const auto scenario = hw::read_scenario(load_scenario(run.request.scenario, run.request.sets));
  const std::string was = run.summary.at("scenario").at("hash").get<std::string>();
  if (fmt::format("{:016x}", scenario.hash) != was ||
      run.summary.at("version").get<std::string>() != kVersion)
    throw UserError(traces::place_of(run.request.scenario.string()),
                    "describes another machine than the one replayed on, or umfsim has changed "
                    "since; expected the same: replay again");
}

} // namespace

Json request_json(const ReplayRequest& request) {
  Json traces = Json::array();
  for (const auto& trace : request.traces)
    traces.push_back(file_json(trace));
  Json told = {{"traces", std::move(traces)}};
  if (!request.shapes_from.empty()) told["shapes_from"] = file_json(request.shapes_from);
  told["scenario"] = whole_name(request.scenario);
  told["sets"] = request.sets;
  return told;
}

FinishedRun read_finished(const std::filesystem::path& folder) {
  FinishedRun run;
  run.summary = read_json(folder, "summary.json");
  const Json facts = read_json(folder, "run.json");
  if (!facts.contains("request"))
    throw UserError(traces::place_of((folder / "run.json").string()),
                    "does not say what was replayed, expected the run.json of a replay at burst "
                    "resolution by this version");
  try {
    run.request = request_in(facts);
    run.wall_seconds = facts.at("wall_s").get<double>();
    require_same_machine(run);
  } catch (const Json::exception& fault) {
    throw UserError(traces::place_of(folder.string()),
                    fmt::format("{}: {}", kExpected, fault.what()));
  }
  return run;
}

} // namespace umf::app
