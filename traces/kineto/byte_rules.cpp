#include "traces/kineto/byte_rules.h"

#include "traces/kineto/attention_rule.h"
#include "traces/kineto/collective_rule.h"
#include "traces/kineto/convolution_rule.h"
#include "traces/kineto/elementwise_rule.h"
#include "traces/kineto/embedding_rule.h"
#include "traces/kineto/gemm_rule.h"
#include "traces/kineto/library_rule.h"
#include "traces/kineto/norm_rule.h"
#include "traces/kineto/pooling_rule.h"
#include "traces/kineto/reduction_rule.h"
#include "traces/kineto/softmax_rule.h"

#include <algorithm>
#include <iterator>

namespace umf::traces::kineto {

namespace {

struct NamedRule {
  bool (*covers)(std::string_view op);
  bool (*is_kernel)(std::string_view kernel);
  Work (*work)(const OperatorCall&);
  bool only_named = false; ///< no other kernel of the operator does its work
};

/// An operator is covered by one rule at most.
constexpr NamedRule kRules[] = {{is_gemm, is_gemm_kernel, gemm_work},
                                {is_elementwise, is_elementwise_kernel, elementwise_work, true},
                                {is_attention, is_attention_kernel, attention_work},
                                {is_norm, is_norm_kernel, norm_work},
                                {is_softmax, is_softmax_kernel, softmax_work},
                                {is_embedding, is_embedding_kernel, embedding_work},
                                {is_reduction, is_reduction_kernel, reduction_work},
                                {is_convolution, is_convolution_kernel, convolution_work},
                                {is_pooling, is_pooling_kernel, pooling_work},
                                {is_collective, is_collective_kernel, collective_work},
                                {is_library_pointwise, is_library_kernel, library_pointwise_work}};

const NamedRule* rule_for(std::string_view op) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const NamedRule& rule) { return rule.covers(op); });
  return found == std::end(kRules) ? nullptr : found;
}

} // namespace

std::string_view bare_name(std::string_view op) {
  constexpr std::string_view prefix = "aten::";
  constexpr std::string_view suffix = "_out";
  if (op.substr(0, prefix.size()) != prefix) return op;
  op.remove_prefix(prefix.size());
  if (op.size() > suffix.size() && op.substr(op.size() - suffix.size()) == suffix)
    op.remove_suffix(suffix.size());
  return op;
}

bool may_work(std::string_view op, std::string_view kernel) {
  const auto* rule = rule_for(bare_name(op));
  return rule && (!rule->only_named || rule->is_kernel(kernel));
}

bool named_for_work(std::string_view op, std::string_view kernel) {
  const auto* rule = rule_for(bare_name(op));
  return rule && rule->is_kernel(kernel);
}

Work work_of(const OperatorCall& call) {
  const auto* rule = rule_for(call.op);
  return rule ? rule->work(call) : Work{};
}

} // namespace umf::traces::kineto
