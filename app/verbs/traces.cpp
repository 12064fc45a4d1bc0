#include "app/verbs/verbs.h"

#include "app/run/replay_run.h"
#include "traces/convert.h"
#include "traces/registry.h"
#include "traces/summary.h"

#include <cstdio>
#include <memory>

namespace umf::app {

namespace {

/// Lets an interrupt through between two records.
class Interruptible : public stream::Source {
public:
  explicit Interruptible(std::unique_ptr<stream::Source> source) : source_(std::move(source)) {}
  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (stop_asked()) throw Interrupted{};
    return source_->next(record);
  }

private:
  std::unique_ptr<stream::Source> source_;
};

} // namespace

Action add_inspect(CLI::App& app) {
  struct Options {
    std::string trace, format = "table";
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("inspect", "What a trace holds");
  verb->add_option("TRACE", options->trace, "Trace of any readable format")->required();
  verb->add_option("--format", options->format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  return [options] {
    Interruptible source(traces::open_trace(options->trace));
    const traces::Summary summary = traces::summarise(source);
    std::fputs(options->format == "json" ? (traces::to_json(summary).dump(2) + "\n").c_str()
                                         : traces::to_text(summary).c_str(),
               stdout);
    return Exit::ok;
  };
}

Action add_convert(CLI::App& app) {
  struct Options {
    std::string in, out, provenance;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("convert", "Any readable trace to .umft or .jsonl");
  verb->add_option("IN", options->in, "Trace of any readable format")->required();
  verb->add_option("OUT", options->out, "File to write: .umft, or .jsonl for people")->required();
  verb->add_option("--provenance", options->provenance,
                   "Where the original is from: repository, path, licence");
  return [options] {
    Interruptible source(traces::open_trace(options->in));
    stream::Header header = source.header();
    if (!options->provenance.empty()) header.provenance = options->provenance;
    const auto sink = traces::create_trace(options->out, header);
    const traces::RecordCounts counts = traces::convert(source, *sink);
    std::printf("%s: %llu records, %llu kernels\n", options->out.c_str(),
                static_cast<unsigned long long>(counts.total()),
                static_cast<unsigned long long>(counts.of<stream::Kernel>()));
    return Exit::ok;
  };
}

} // namespace umf::app
