#include "app/run/trace_source.h"

#include "traces/places.h"
#include "traces/registry.h"

#include <utility>

namespace umf::app {

namespace {

class Interruptible : public stream::Source {
public:
  Interruptible(std::unique_ptr<stream::Source> source, std::function<bool()> stop)
      : source_(std::move(source)), stop_(std::move(stop)) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (stop_ && stop_()) throw Interrupted{};
    return source_->next(record);
  }

private:
  std::unique_ptr<stream::Source> source_;
  std::function<bool()> stop_;
};

} // namespace

void refuse_pipe(const std::filesystem::path& trace) {
  std::error_code error;
  const auto type = std::filesystem::status(trace, error).type();
  if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character)
    throw UserError(traces::place_of(trace.string()),
                    "is a pipe or a terminal, expected a regular file: it is read more than once");
}

std::unique_ptr<stream::Source> open_source(const std::filesystem::path& trace,
                                            std::function<bool()> stop,
                                            const std::filesystem::path& shapes_from) {
  refuse_pipe(trace);
  if (!shapes_from.empty()) refuse_pipe(shapes_from);
  return std::make_unique<Interruptible>(traces::open_trace(trace, shapes_from), std::move(stop));
}

} // namespace umf::app
