#include "traces/kineto/resolver.h"

#include "traces/kineto/archive.h"
#include "traces/kineto/byte_rules.h"
#include "traces/kineto/collective_rule.h"

#include <array>

namespace umf::traces::kineto {

namespace {

constexpr std::size_t kMostWorks = std::size_t{1} << 16; ///< remembered at once

const Work kNothing;

bool has_shapes(const Issued& issued) {
  return issued.works && !issued.by_graph;
}

bool is_half(stream::DType dtype) {
  return dtype == stream::DType::bf16 || dtype == stream::DType::f16;
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

std::size_t Resolver::Called::Hash::operator()(const Called& called) const {
  const auto texts = std::size_t{called.call} << 32 | called.kernel;
  return (texts ^ std::hash<const Shape*>()(called.learned)) * 0x9E3779B97F4A7C15u;
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

void Resolver::capture(Join& joined, CapturedWorks& captured) {
  while (const Issued* issued = joined.next())
    if (issued->kind == IssuedKind::kernel) observe(*issued);
  shapes_.rewind();
  joined.rewind();
  std::optional<Issued> launch; // the kernel it stands for may follow
  const auto add_launch = [&] {
    if (launch) capture(*launch, captured);
    launch.reset();
  };
  while (const Issued* issued = joined.next()) {
    if (issued->kind != IssuedKind::kernel || issued->by_graph) continue;
    if (launch && launch->issue_ns == issued->issue_ns && launch->name == issued->name)
      launch.reset();
    add_launch();
    if (issued->start_ns)
      capture(*issued, captured);
    else
      launch = *issued;
  }
  add_launch();
}

/// A kernel without work keeps its place, so that the order of those alike stays.
void Resolver::capture(const Issued& issued, CapturedWorks& captured) {
  const auto* shape = learned(issued);
  if (!comparable(issued)) return;
  captured.add(text_of(texts_, issued.name), issued.grid, issued.block,
               text_of(texts_, issued.op_name),
               issued.works ? work_of_call(issued, shape) : kNothing);
}

/// Kernels are alike when name, grid and block agree.
void Resolver::collect_templates(Join& joined) {
  while (const Issued* issued = joined.next()) {
    if (issued->kind != IssuedKind::kernel || issued->by_graph) continue;
    observe(*issued);
    if (!issued->works || !comparable(*issued)) continue;
    const Likeness likeness{issued->name, issued->grid, issued->block};
    if (templates_.count(likeness) > 0) continue;
    const Work& work = work_of_call(*issued, nullptr);
    if (work.rule == stream::Rule::unknown) continue;
    auto& matched = templates_[likeness];
    matched = {std::string("~").append(text_of(texts_, issued->op_name)), work};
    matched.work.rule = stream::Rule::matched;
  }
  shapes_.rewind();
}

/// Lets the shapes around a convolution or pooling say what it leaves out.
void Resolver::observe(const Issued& issued) {
  if (issued.join == JoinRule::none || shapes_.is_last(issued.op_number)) return;
  if (!shapes_.waits() && !has_window(issued.op_name)) return;
  const auto op = op_call(texts_, issued.op_call);
  const auto arguments = arguments_of(op);
  shapes_.observe({bare_name(op.name), arguments, {}}, issued.op_number);
}

bool Resolver::has_window(TextId op_name) {
  const auto [known, is_new] = has_window_.try_emplace(op_name, false);
  if (is_new) known->second = LearnedShapes::covers(bare_name(text_of(texts_, op_name)));
  return known->second;
}

/// The shape a call leaves out; null when it leaves out none or it is not known.
const Shape* Resolver::learned(const Issued& issued) {
  if (!shapes_.any() || issued.by_graph || issued.join == JoinRule::none) return nullptr;
  if (!has_window(issued.op_name)) return nullptr;
  if (shapes_.is_last(issued.op_number)) return shapes_.last_learned();
  const auto op = op_call(texts_, issued.op_call);
  const auto arguments = arguments_of(op);
  return shapes_.learned({bare_name(op.name), arguments, {}}, issued.op_number);
}

void Resolver::resolve(Resolved& record, std::uint32_t ordinal) {
  const auto& issued = record.issued;
  record.rule = stream::Rule::unknown;
  record.flops = 0;
  record.flops_dtype = stream::DType::unknown;
  record.touches.clear();
  record.fresh.clear();
  if (issued.kind == IssuedKind::mark && is_step_mark(text_of(texts_, issued.name)))
    tensors_.begin_step();
  if (issued.kind != IssuedKind::kernel) return;
  std::string identity;
  const Work& work = work_for(issued, identity);
  if (work.rule == stream::Rule::unknown) return;
  record.rule = work.rule;
  record.flops = work.flops;
  record.flops_dtype = work.flops_dtype;
  record.touches =
      tensors_.touch({identity, issued.stream, issued.op_thread, ordinal}, work, record.fresh);
}

/// Valid until the next call.
const Work& Resolver::work_for(const Issued& issued, std::string& identity) {
  const auto* shape = learned(issued);
  if (issued.message != kNoText) {
    const Work& work = work_of_message(issued.message);
    identity = "collective";
    if (work.rule != stream::Rule::unknown) return work;
  }
  if (has_shapes(issued)) {
    identity = text_of(texts_, issued.op_name);
    return work_of_call(issued, shape);
  }
  if (issued.join != JoinRule::none && !issued.by_graph) return kNothing;
  if (!comparable(issued)) return work_of_capture(issued, identity);
  const auto found = templates_.find({issued.name, issued.grid, issued.block});
  if (found == templates_.end()) return work_of_capture(issued, identity);
  identity = found->second.op;
  return found->second.work;
}

const Work& Resolver::work_of_call(const Issued& issued, const Shape* shape) {
  const Called called{issued.op_call, issued.name, shape};
  if (const auto known = works_.find(called); known != works_.end()) return known->second;
  if (works_.size() == kMostWorks) works_.clear();
  const auto op = op_call(texts_, issued.op_call);
  const auto kernel = text_of(texts_, issued.name);
  const auto arguments = arguments_of(op);
  for (const auto& argument : arguments)
    if (half_ == stream::DType::unknown && is_half(argument.dtype)) half_ = argument.dtype;
  const auto half = half_ == stream::DType::unknown ? stream::DType::f16 : half_;
  return works_.emplace(called, work_of({bare_name(op.name), arguments, kernel, half, shape}))
      .first->second;
}

const Work& Resolver::work_of_capture(const Issued& issued, std::string& identity) {
  if (!captured_) return kNothing;
  const auto* captured = captured_->next(text_of(texts_, issued.name), issued.grid, issued.block);
  if (!captured || captured->work.rule == stream::Rule::unknown) {
    ++not_captured_;
    return kNothing;
  }
  identity = captured->op;
  return captured->work;
}

const Work& Resolver::work_of_message(TextId message) {
  if (const auto known = messages_.find(message); known != messages_.end()) return known->second;
  if (messages_.size() == kMostWorks) messages_.clear();
  return messages_.emplace(message, message_work(text_of(texts_, message))).first->second;
}

} // namespace umf::traces::kineto
