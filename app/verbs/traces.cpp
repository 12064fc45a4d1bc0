#include "app/verbs/verbs.h"

#include "app/run/trace_source.h"
#include "traces/address/summary.h"
#include "traces/convert.h"
#include "traces/registry.h"
#include "traces/summary.h"

#include <fmt/format.h>

#include <memory>

namespace umf::app {

namespace {

/// `summary` as the format asks for.
template <class Summary>
void print_summary(const Summary& summary, const std::string& format) {
  print(format == "json" ? to_json(summary).dump(2) + "\n" : to_text(summary));
}

bool holds_addresses(const std::string& trace) {
  refuse_pipe(trace);
  return traces::is_address_trace(trace);
}

void inspect_addresses(const std::string& trace, const std::string& format) {
  traces::address::Reader reader{std::filesystem::path(trace)};
  const auto stop = [] {
    if (stop_asked()) throw Interrupted{};
  };
  print_summary(summarise(reader, stop), format);
}

} // namespace

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
    if (options->shapes_from.empty() && holds_addresses(options->trace)) {
      inspect_addresses(options->trace, options->format);
      return Exit::ok;
    }
    const auto source = open_source(options->trace, stop_asked, options->shapes_from);
    print_summary(traces::summarise(*source), options->format);
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
