#pragma once

#include "model/stream/records.h"
#include "traces/io/spill.h"
#include "traces/kineto/resolver.h"

#include <deque>
#include <vector>

namespace umf::traces::kineto {

/// Turns Resolved records into records of the kernel stream: tensors before their first
/// use, Free after an activation's last, oddities at the end.
class RecordsOut {
public:
  RecordsOut(io::RecordLog& resolved, const io::TextPool& texts, const TensorIdentity& tensors,
             std::vector<stream::Oddity> oddities);

  bool next(stream::Record& record);

private:
  void emit(const Resolved& record);
  void emit_kernel(const Resolved& record);
  void emit_copy(const Issued& issued);
  void emit_sync(const Issued& issued);
  void emit_frees(const Resolved& record);

  io::RecordLog& resolved_;
  const io::TextPool& texts_;
  const TensorIdentity& tensors_;
  std::vector<stream::Oddity> oddities_;
  std::deque<stream::Record> waiting_;
  std::uint32_t ordinal_ = 0;
  std::uint64_t next_id_ = 0;
  std::int32_t device_ = 0; ///< of the last kernel or copy
  bool ended_ = false;
};

} // namespace umf::traces::kineto
