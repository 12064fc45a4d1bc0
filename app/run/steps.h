#pragma once

#include "model/stream/records.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace umf::app {

/// A step of the profiled program begins with the operation of this number, from 1 in order of
/// issue.
struct StepMark {
  std::string name;
  std::uint64_t first_operation = 1;
};

/// Passes a stream on and notes where its steps begin: marks "ProfilerStep#N" of the profiler,
/// "step N" of generators.
class StepCollector : public stream::Source {
public:
  StepCollector(std::unique_ptr<stream::Source> source, std::vector<StepMark>& steps)
      : source_(std::move(source)), steps_(steps) {}

  const stream::Header& header() const override { return source_->header(); }
  bool next(stream::Record& record) override {
    if (!source_->next(record)) return false;
    if (std::holds_alternative<stream::Kernel>(record) ||
        std::holds_alternative<stream::Copy>(record))
      ++operations_;
    else if (const auto* mark = std::get_if<stream::Mark>(&record))
      note(mark->name);
    return true;
  }

private:
  void note(const std::string& name) {
    if (!name.starts_with("ProfilerStep#") && !name.starts_with("step ")) return;
    if (!steps_.empty() && steps_.back().name == name) return; // one mark a thread that saw it
    steps_.push_back({name, operations_ + 1});
  }

  std::unique_ptr<stream::Source> source_;
  std::vector<StepMark>& steps_;
  std::uint64_t operations_ = 0;
};

} // namespace umf::app
