#include "traces/convert.h"

#include <numeric>

namespace umf::traces {

std::uint64_t RecordCounts::total() const {
  return std::accumulate(by_type.begin(), by_type.end(), std::uint64_t{0});
}

RecordCounts convert(stream::Source& source, stream::Sink& sink) {
  RecordCounts counts;
  for (stream::Record record; source.next(record);) {
    sink.write(record);
    ++counts.by_type[record.index()];
  }
  sink.finish();
  return counts;
}

} // namespace umf::traces
