#include "traces/kineto/reader.h"

#include "model/base/error.h"
#include "traces/kineto/event.h"
#include "traces/kineto/event_splitter.h"
#include "traces/kineto/oddities.h"
#include "traces/kineto/preamble.h"
#include "traces/kineto/records_out.h"
#include "traces/kineto/resolver.h"

#include <optional>
#include <utility>

namespace umf::traces::kineto {

namespace {

/// Host events hold numbers of other kinds under the same keys (HIP's calls give their
/// stream as an address).
std::uint32_t faults_that_matter(Category category) {
  constexpr std::uint32_t bytes = repaired_utf8 | repaired_control | bad_escape;
  constexpr std::uint32_t times = bad_time | bad_duration | negative_duration;
  switch (category) {
  case Category::other:
    return bytes;
  case Category::op:
  case Category::runtime:
  case Category::annotation:
    return bytes | times;
  default:
    return bytes | times | bad_number;
  }
}

/// Reads the text once and hands its events to the join.
class TextReader {
public:
  TextReader(io::Input& input, stream::Header& header, io::TextPool& texts, Join& join,
             Oddities& oddities)
      : splitter_(input), header_(header), texts_(texts), join_(join), oddities_(oddities) {}

  /// Kernels that are known by their launch alone count too.
  void keep_launches() { keeps_launches_ = true; }

  /// Returns the number of events.
  std::uint64_t run() {
    EventSplitter::Piece piece;
    while (splitter_.next(piece))
      take(piece);
    return events_;
  }

private:
  using Kind = EventSplitter::Kind;

  void take(const EventSplitter::Piece& piece) {
    if (piece.kind == Kind::value) read_preamble(piece.key, piece.text, header_);
    if (piece.kind == Kind::stray)
      oddities_.note("stray-text", "text between or after the events was skipped", piece.offset);
    if (piece.kind == Kind::event) take_event(piece);
    if (piece.kind == Kind::broken) {
      ++events_;
      note_unparsable(piece.offset);
    }
  }

  void take_event(const EventSplitter::Piece& piece) {
    ++events_;
    if (is_skippable(piece.text)) return;
    if (!parser_.parse(piece.text, event_)) {
      note_unparsable(piece.offset);
      splitter_.reject();
      return;
    }
    oddities_.note_faults(event_.faults & faults_that_matter(event_.category), piece.offset);
    if (event_.category != Category::other) hand_over(piece.offset);
  }

  void note_unparsable(std::uint64_t offset) {
    oddities_.note("unparsable-event", "an event is no valid JSON and was left out", offset);
  }

  void hand_over(std::uint64_t offset) {
    const bool timed = event_.start_ns && event_.duration_ns;
    switch (event_.category) {
    case Category::op:
      if (timed) join_.add(op_from(event_, events_, texts_));
      // In 2021 annotations were operators.
      if (timed && is_step_mark(event_.name)) hand_over_issued();
      break;
    case Category::runtime:
      if (timed) hand_over_call();
      break;
    case Category::annotation:
      if (timed) hand_over_issued();
      break;
    default:
      note_missing(offset);
      hand_over_issued();
    }
  }

  void hand_over_call() {
    const auto call = call_from(event_);
    join_.add(call, event_.correlation);
    if (keeps_launches_ && !event_.launched.empty())
      join_.add_launch(launch_from(event_, events_, texts_), call);
  }

  void hand_over_issued() { join_.add(issued_from(event_, events_, texts_), event_.correlation); }

  void note_missing(std::uint64_t offset) {
    const bool copies = event_.category == Category::copy || event_.category == Category::memset;
    if (copies && !event_.bytes)
      oddities_.note("copy-without-bytes", "a copy or memset does not say how many bytes", offset);
    if (event_.category == Category::kernel && event_.duration_ns == 0)
      oddities_.note("zero-duration-kernel", "a kernel lasts 0 ns", offset);
  }

  EventSplitter splitter_;
  EventParser parser_;
  Event event_;
  stream::Header& header_;
  io::TextPool& texts_;
  Join& join_;
  Oddities& oddities_;
  std::uint64_t events_ = 0;
  bool keeps_launches_ = false;
};

CapturedWorks captured_works(const std::filesystem::path& path, Bytes memory) {
  auto input = io::Input::open(path);
  stream::Header header;
  io::TextPool texts(memory);
  Oddities oddities(input.name()); // those of the other trace are not this one's
  Join join(memory, texts);
  TextReader reader(input, header, texts, join, oddities);
  reader.keep_launches();
  reader.run();
  join.run();
  CapturedWorks captured;
  Resolver(texts).capture(join, captured);
  return captured;
}

class Reader final : public KinetoSource {
public:
  Reader(io::Input input, const Options& options)
      : texts_(options.memory), resolved_(options.memory), oddities_(input.name()),
        resolver_(texts_) {
    CapturedWorks captured;
    if (!options.shapes_from.empty()) {
      captured = captured_works(options.shapes_from, options.memory);
      resolver_.use(captured);
    }
    header_.format = "kineto";
    header_.source = std::filesystem::path(input.name()).filename().string();
    {
      Join join(options.memory, texts_);
      statistics_.events = TextReader(input, header_, texts_, join, oddities_).run();
      join.run();
      statistics_.joins = join.counts();
      note_waits(join);
      resolver_.run(join, resolved_);
      note_not_captured();
    }
    records_.emplace(resolved_, texts_, resolver_.tensors(), oddities_.list());
  }

  const stream::Header& header() const override { return header_; }
  const Statistics& statistics() const override { return statistics_; }
  bool next(stream::Record& record) override { return records_->next(record); }

private:
  void note_waits(const Join& join) {
    for (std::uint64_t i = 0; i < join.waits_without_stream(); ++i)
      oddities_.note("wait-without-stream", "a wait does not say for which stream; left out", 0);
  }

  void note_not_captured() {
    for (std::uint64_t i = 0; i < resolver_.not_captured(); ++i)
      oddities_.note("no-captured-shapes",
                     "a kernel without operator has no like in the trace of --shapes-from", 0);
  }

  stream::Header header_;
  Statistics statistics_;
  io::TextPool texts_;
  io::RecordLog resolved_;
  Oddities oddities_;
  Resolver resolver_;
  std::optional<RecordsOut> records_;
};

} // namespace

std::unique_ptr<KinetoSource> read_kineto(io::Input input, const Options& options) {
  return std::make_unique<Reader>(std::move(input), options);
}

std::unique_ptr<stream::Source> open_kineto(const std::filesystem::path& path) {
  return read_kineto(io::Input::open(path));
}

std::unique_ptr<stream::Source> open_kineto(const std::filesystem::path& path,
                                            const std::filesystem::path& shapes_from) {
  Options options;
  options.shapes_from = shapes_from;
  return read_kineto(io::Input::open(path), options);
}

} // namespace umf::traces::kineto
