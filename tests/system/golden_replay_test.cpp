#include "tests/app/child.h"
#include "tests/app/folder.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <cstdlib>
#include <fstream>
#include <map>

using namespace umf::test;
using Json = nlohmann::ordered_json;

/// The bundled trace on shipped machines gives what it gave when golden/MACHINE.txt was
/// written. Those files are a hash of each result and, to say what a change did, the headline
/// figures; UMFSIM_UPDATE_GOLDEN=1 writes them anew.
namespace {

using Figures = std::map<std::string, std::string>;

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

Figures figures_of(const Folder& folder) {
  Json summary = Json::parse(folder.read("out/summary.json"));
  summary.erase("version"); // a release changes no result
  Figures figures = {{"summary.json", hash_of(summary.dump(2))}};
  for (const std::string file : {"kernels.csv", "timeseries.csv", "timeline.json"})
    figures[file] = hash_of(folder.read("out/" + file));
  const auto add = [&](const std::string& pointer) {
    figures[pointer] = summary.at(Json::json_pointer(pointer)).dump();
  };
  add("/time/simulated_ns");
  for (const auto& [cause, time] : summary.at("time_by_cause").items())
    add("/time_by_cause/" + cause);
  for (const auto& [tier, counted] : summary.at("tiers").items())
    for (const std::string key : {"read_bytes", "write_bytes", "peak_bytes"})
      add("/tiers/" + tier + "/" + key);
  add("/energy/total_j");
  for (const auto& [link, counted] : summary.at("links").items())
    for (const std::string key : {"tx_bytes", "rx_bytes"})
      add("/links/" + link + "/" + key);
  return figures;
}

Figures read_figures(const std::filesystem::path& file) {
  Figures figures;
  std::ifstream in(file);
  for (std::string name, value; in >> name >> value;)
    figures[name] = value;
  return figures;
}

void write_figures(const std::filesystem::path& file, const Figures& figures) {
  std::ofstream out(file);
  for (const auto& [name, value] : figures)
    out << name << ' ' << value << '\n';
}

std::string changes(const Figures& before, const Figures& after) {
  const auto value = [](const Figures& figures, const std::string& name) {
    const auto found = figures.find(name);
    return found == figures.end() ? std::string("none") : found->second;
  };
  Figures all = before;
  all.insert(after.begin(), after.end());
  std::string text;
  for (const auto& [name, unused] : all)
    if (value(before, name) != value(after, name))
      text +=
          fmt::format("  {}: {} before, {} now\n", name, value(before, name), value(after, name));
  return text;
}

} // namespace

TEST_CASE("the bundled trace replays to the committed results", "[system]") {
  // A machine, and the policy where it is not the machine's own.
  const auto [machine, policy] =
      GENERATE(table<std::string, std::string>({{"h100-sxm", ""},
                                                {"umf-small-hbm", ""},
                                                {"umf-small-hbm", "lru"},
                                                {"umf-small-hbm", "umf"}}));
  Folder folder;
  std::vector<std::string> arguments = {
      "replay",     source_file("traces/samples/h100-qwen1.5-0.5b.umft").string(),
      "--scenario", source_file("scenarios/hardware/" + machine + ".json").string(),
      "--out",      "out",
      "--quiet"};
  if (!policy.empty()) arguments.insert(arguments.end(), {"--policy", policy});
  const Ended ended = umfsim(arguments, folder.path());
  const std::string name = policy.empty() ? machine : machine + "-" + policy;
  CAPTURE(name, ended.err);
  REQUIRE(ended.status == 0);
  const Figures now = figures_of(folder);

  const auto golden = source_file("tests/system/golden/" + name + ".txt");
  if (std::getenv("UMFSIM_UPDATE_GOLDEN") != nullptr) write_figures(golden, now);

  const std::string changed = changes(read_figures(golden), now);
  INFO("changed on " << name << ":\n"
                     << changed
                     << "If that is meant, run this test with UMFSIM_UPDATE_GOLDEN=1 and commit "
                     << golden.filename() << " with the reason.");
  CHECK(changed.empty());
}
