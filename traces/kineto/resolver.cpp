#include "traces/kineto/resolver.h"

#include "traces/kineto/archive.h"

#include <array>

namespace umf::traces::kineto {

namespace {

constexpr std::string_view kStepMark = "ProfilerStep#";

constexpr std::size_t kMostWorks = std::size_t{1} << 16; ///< remembered at once

const Work kNothing;

bool has_shapes(const Issued& issued) {
  return issued.works && !issued.by_graph;
}

/// Without a grid nothing is alike.
bool comparable(const Issued& issued) {
  return issued.grid != std::array<std::uint32_t, 3>{};
}

} // namespace

std::size_t Resolver::Likeness::Hash::operator()(const Likeness& likeness) const {
  std::size_t hash = likeness.name;
  for (const auto* extent : {&likeness.grid, &likeness.block})
    for (const auto count : *extent)
      hash = (hash ^ count) * 0x9E3779B97F4A7C15u;
  return hash;
}

void Resolver::run(Join& joined, io::RecordLog& resolved) {
  collect_templates(joined);
  joined.rewind();
  Packer packer;
  Resolved record;
  for (std::uint32_t ordinal = 0; const Issued* issued = joined.next(); ++ordinal) {
    record.issued = *issued;
    resolve(record, ordinal);
    resolved.append(pack(packer, record));
  }
}

/// Kernels are alike when name, grid and block agree.
void Resolver::collect_templates(Join& joined) {
  while (const Issued* issued = joined.next()) {
    if (issued->kind != IssuedKind::kernel || !has_shapes(*issued) || !comparable(*issued))
      continue;
    const Likeness likeness{issued->name, issued->grid, issued->block};
    if (templates_.count(likeness) > 0) continue;
    const Work& work = work_of_call(issued->op_call);
    if (work.rule == stream::Rule::unknown) continue;
    auto& matched = templates_[likeness];
    matched = {std::string("~").append(text_of(texts_, issued->op_name)), work};
    matched.work.rule = stream::Rule::matched;
  }
}

void Resolver::resolve(Resolved& record, std::uint32_t ordinal) {
  const auto& issued = record.issued;
  record.rule = stream::Rule::unknown;
  record.flops = 0;
  record.flops_dtype = stream::DType::unknown;
  record.touches.clear();
  record.fresh.clear();
  if (issued.kind == IssuedKind::mark &&
      text_of(texts_, issued.name).compare(0, kStepMark.size(), kStepMark) == 0)
    tensors_.begin_step();
  if (issued.kind != IssuedKind::kernel) return;
  std::string identity;
  const Work& work = work_for(issued, identity);
  if (work.rule == stream::Rule::unknown) return;
  record.rule = work.rule;
  record.flops = work.flops;
  record.flops_dtype = work.flops_dtype;
  record.touches = tensors_.touch(identity, issued.stream, work, ordinal, record.fresh);
}

/// Valid until the next call.
const Work& Resolver::work_for(const Issued& issued, std::string& identity) {
  if (has_shapes(issued)) {
    identity = text_of(texts_, issued.op_name);
    return work_of_call(issued.op_call);
  }
  if (issued.join != JoinRule::none && !issued.by_graph) return kNothing;
  if (!comparable(issued)) return kNothing;
  const auto found = templates_.find({issued.name, issued.grid, issued.block});
  if (found == templates_.end()) return kNothing;
  identity = found->second.op;
  return found->second.work;
}

const Work& Resolver::work_of_call(TextId call) {
  if (const auto known = works_.find(call); known != works_.end()) return known->second;
  if (works_.size() == kMostWorks) works_.clear();
  return works_.emplace(call, work_of(op_call(texts_, call))).first->second;
}

} // namespace umf::traces::kineto
