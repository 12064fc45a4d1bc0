#pragma once

#include "model/stream/records.h"

#include <array>
#include <cstdint>
#include <variant>

namespace umf::traces {

/// How many records of each type there were, in the order of stream::Record.
struct RecordCounts {
  std::array<std::uint64_t, std::variant_size_v<stream::Record>> by_type{};

  template <class Type>
  std::uint64_t of() const {
    return by_type[stream::Record(Type{}).index()];
  }
  std::uint64_t total() const;
};

/// Copies every record and finishes the sink.
RecordCounts convert(stream::Source&, stream::Sink&);

} // namespace umf::traces
