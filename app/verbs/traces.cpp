#include "app/verbs/verbs.h"

#include "app/run/trace_source.h"
#include "traces/convert.h"
#include "traces/registry.h"
#include "traces/summary.h"

#include <fmt/format.h>

#include <memory>

namespace umf::app {

Action add_inspect(CLI::App& app) {
  struct Options {
    std::string trace, shapes_from, format = "table";
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("inspect", "What a trace holds");
  verb->add_option("TRACE", options->trace, "Trace of any readable format")->required();
  verb->add_option("--shapes-from", options->shapes_from, kShapesFrom);
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [options] {
    const auto source = open_source(options->trace, stop_asked, options->shapes_from);
    const traces::Summary summary = traces::summarise(*source);
    print(options->format == "json" ? traces::to_json(summary).dump(2) + "\n"
                                    : traces::to_text(summary));
    return Exit::ok;
  };
}

Action add_convert(CLI::App& app) {
  struct Options {
    std::string in, out, shapes_from, provenance;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("convert", "Any readable trace to .umft or .jsonl");
  verb->add_option("IN", options->in, "Trace of any readable format")->required();
  verb->add_option("OUT", options->out, "File to write: .umft, or .jsonl for people")->required();
  verb->add_option("--shapes-from", options->shapes_from, kShapesFrom);
  verb->add_option("--provenance", options->provenance,
                   "Where the original is from: repository, path, licence");
  return [options] {
    const auto source = open_source(options->in, stop_asked, options->shapes_from);
    stream::Header header = source->header();
    if (!options->provenance.empty()) header.provenance = options->provenance;
    const auto sink = traces::create_trace(options->out, header);
    const traces::RecordCounts counts = traces::convert(*source, *sink);
    print(fmt::format("{}: {} records, {} kernels\n", options->out, counts.total(),
                      counts.of<stream::Kernel>()));
    return Exit::ok;
  };
}

} // namespace umf::app
