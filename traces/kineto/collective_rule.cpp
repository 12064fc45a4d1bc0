#include "traces/kineto/collective_rule.h"

#include "traces/kineto/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace umf::traces::kineto {

namespace {

enum class Traffic : std::uint8_t { in_place, in_and_out, only_in, only_out };

/// c10d's names of collectives (ProcessGroupNCCL's RECORD_PARAM_COMMS), without underscores.
struct Named {
  std::string_view name;
  Traffic traffic;
};

constexpr Named kNames[] = {{"allreduce", Traffic::in_place},
                            {"allreducecoalesced", Traffic::in_place},
                            {"allgather", Traffic::in_and_out},
                            {"allgatherbase", Traffic::in_and_out},
                            {"allgatherintotensorcoalesced", Traffic::in_and_out},
                            {"reducescatter", Traffic::in_and_out},
                            {"reducescatterbase", Traffic::in_and_out},
                            {"reducescattertensorcoalesced", Traffic::in_and_out},
                            {"alltoall", Traffic::in_and_out},
                            {"alltoallbase", Traffic::in_and_out},
                            {"alltoallv", Traffic::in_and_out},
                            {"gather", Traffic::in_and_out},
                            {"scatter", Traffic::in_and_out},
                            {"broadcast", Traffic::only_out},
                            {"broadcastoop", Traffic::only_out},
                            {"recv", Traffic::only_out},
                            {"send", Traffic::only_in},
                            {"reduce", Traffic::only_in},
                            {"reduceoop", Traffic::only_in}};

/// Operators with their tensors among the arguments.
struct Form {
  std::string_view op;
  Traffic traffic;
  std::size_t input;
  std::size_t output;
};

constexpr Form kForms[] = {{"c10d::_allgather_base_", Traffic::in_and_out, 1, 0},
                           {"c10d::_reduce_scatter_base_", Traffic::in_and_out, 1, 0},
                           {"c10d::alltoall_base_", Traffic::in_and_out, 1, 0},
                           {"symm_mem::multimem_all_reduce_", Traffic::in_place, 0, 0},
                           {"symm_mem::one_shot_all_reduce_out", Traffic::in_and_out, 0, 3},
                           {"symm_mem::two_shot_all_reduce_", Traffic::in_place, 0, 0},
                           {"_C_custom_ar::all_reduce", Traffic::in_and_out, 1, 2},
                           {"record_param_comms", Traffic::in_place, 0, 0}};

const Form* find(std::string_view op) {
  const auto* found =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.op == op; });
  return found == std::end(kForms) ? nullptr : found;
}

std::optional<Traffic> traffic_of(std::string_view name) {
  std::string bare;
  std::copy_if(name.begin(), name.end(), std::back_inserter(bare), [](char c) { return c != '_'; });
  for (const auto& named : kNames)
    if (named.name == bare) return named.traffic;
  return std::nullopt;
}

/// at::toString's names of types, as the profiler gives them on kernels.
stream::DType type_of(std::string_view name) {
  using stream::DType;
  constexpr std::array<std::pair<std::string_view, DType>, 14> table{
      {{"Float", DType::f32},
       {"Half", DType::f16},
       {"BFloat16", DType::bf16},
       {"Double", DType::f64},
       {"Long", DType::i64},
       {"Int", DType::i32},
       {"Short", DType::i16},
       {"Char", DType::i8},
       {"Byte", DType::u8},
       {"Bool", DType::boolean},
       {"Float8_e4m3fn", DType::f8},
       {"Float8_e5m2", DType::f8},
       {"Float8_e4m3fnuz", DType::f8},
       {"Float8_e5m2fnuz", DType::f8}}};
  for (const auto& [text, dtype] : table)
    if (text == name) return dtype;
  return DType::unknown;
}

/// Takes the text up to the next bar off the front.
std::string_view field(std::string_view& text) {
  const auto end = std::min(text.find('|'), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// One message as the argument of an operator.
Argument message(stream::DType dtype, std::int64_t elements) {
  Argument argument;
  argument.dtype = dtype;
  if (elements > 0) argument.tensors.push_back({dtype, {elements}, {}});
  return argument;
}

Work moved(Traffic traffic, const Arguments& arguments, std::size_t input, std::size_t output) {
  WorkBuilder work(stream::Rule::collective, arguments);
  switch (traffic) {
  case Traffic::in_place:
    return work.read(input).update(input).build();
  case Traffic::in_and_out:
    return work.read(input).overwrite(output).build();
  case Traffic::only_in:
    return work.read(input).build();
  case Traffic::only_out:
    return work.overwrite(output).build();
  }
  return {};
}

} // namespace

bool is_collective(std::string_view op) {
  return find(op) != nullptr;
}

bool is_collective_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 5> words{"nccl", "rccl", "all_reduce", "AllReduce",
                                                  "allreduce"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work collective_work(const OperatorCall& call) {
  const auto* form = find(call.op);
  if (!form) return {};
  // record_param_comms holds one tensor; it is both sides of an all-reduce and of no other.
  if (call.op == "record_param_comms" && call.kernel.find("AllReduce") == std::string_view::npos)
    return {};
  return moved(form->traffic, call.arguments, form->input, form->output);
}

std::string message_of(const Event& event) {
  if (event.collective.empty() || (!event.in_elements && !event.out_elements)) return {};
  return fmt::format("{}|{}|{}|{}", event.collective, event.dtype, event.in_elements.value_or(0),
                     event.out_elements.value_or(0));
}

Work message_work(std::string_view text) {
  const auto traffic = traffic_of(field(text));
  const auto dtype = type_of(field(text));
  const auto in = whole_number(field(text));
  const auto out = whole_number(field(text));
  if (!traffic || stream::bits_of(dtype) == 0 || !in || !out) return {};
  const Arguments arguments{message(dtype, *in), message(dtype, *out)};
  return moved(*traffic, arguments, 0, 1);
}

} // namespace umf::traces::kineto
