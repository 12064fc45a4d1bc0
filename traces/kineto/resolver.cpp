#include "traces/kineto/resolver.h"

#include "traces/kineto/archive.h"

#include <algorithm>
#include <array>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

/// Kernels are alike when name, grid and block agree; without a grid nothing is alike.
std::string likeness(const Issued& issued) {
  if (issued.grid == std::array<std::uint32_t, 3>{}) return {};
  Packer packer;
  packer(issued.name, issued.grid, issued.block);
  return std::string(packer.bytes());
}

bool has_shapes(const Issued& issued) {
  return issued.works && !issued.by_graph;
}

} // namespace

void Resolver::run(io::RecordLog& ordered, io::RecordLog& resolved) {
  collect_templates(ordered);
  ordered.rewind();
  Packer packer;
  std::string_view bytes;
  for (std::uint32_t ordinal = 0; ordered.next(bytes); ++ordinal) {
    Resolved record;
    record.issued = unpack<Issued>(bytes);
    resolve(record, ordinal);
    record.issued.op.dims.clear();
    record.issued.op.types.clear();
    record.issued.op.strides.clear();
    record.issued.op.concrete.clear();
    resolved.append(pack(packer, record));
  }
}

void Resolver::collect_templates(io::RecordLog& ordered) {
  std::string_view bytes;
  while (ordered.next(bytes)) {
    const auto issued = unpack<Issued>(bytes);
    if (issued.kind != IssuedKind::kernel || !has_shapes(issued)) continue;
    auto key = likeness(issued);
    if (key.empty() || templates_.count(key) > 0) continue;
    auto work = work_of(issued.op);
    if (work.rule == stream::Rule::unknown) continue;
    templates_.emplace(std::move(key), Template{issued.op.name, std::move(work)});
  }
}

void Resolver::resolve(Resolved& record, std::uint32_t ordinal) {
  const auto& issued = record.issued;
  if (issued.kind == IssuedKind::mark && issued.name.compare(0, kStepMark.size(), kStepMark) == 0)
    tensors_.begin_step();
  if (issued.kind != IssuedKind::kernel) return;
  std::string identity;
  const auto work = work_for(issued, identity);
  if (work.rule == stream::Rule::unknown) return;
  record.rule = work.rule;
  record.flops = work.flops;
  record.flops_dtype = work.flops_dtype;
  record.touches = tensors_.touch(identity, issued.stream, work, ordinal, record.fresh);
}

Work Resolver::work_for(const Issued& issued, std::string& identity) const {
  if (has_shapes(issued)) {
    identity = issued.op.name;
    return work_of(issued.op);
  }
  if (issued.join != JoinRule::none && !issued.by_graph) return {};
  const auto found = templates_.find(likeness(issued));
  if (found == templates_.end()) return {};
  auto work = found->second.work;
  work.rule = stream::Rule::matched;
  identity = "~" + found->second.op;
  return work;
}

} // namespace umf::traces::kineto
