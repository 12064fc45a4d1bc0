#include "traces/kineto/byte_rules.h"

#include "traces/kineto/elementwise_rule.h"
#include "traces/kineto/gemm_rule.h"

namespace umf::traces::kineto {

namespace {

/// "aten::addmm_out" is "addmm" here; empty for operators of other libraries.
std::string_view bare_name(std::string_view op) {
  constexpr std::string_view prefix = "aten::";
  constexpr std::string_view suffix = "_out";
  if (op.substr(0, prefix.size()) != prefix) return {};
  op.remove_prefix(prefix.size());
  if (op.size() > suffix.size() && op.substr(op.size() - suffix.size()) == suffix)
    op.remove_suffix(suffix.size());
  return op;
}

} // namespace

bool may_work(std::string_view op, std::string_view kernel) {
  const auto bare = bare_name(op);
  if (is_gemm(bare)) return true;
  return is_elementwise(bare) && is_elementwise_kernel(kernel);
}

bool named_for_work(std::string_view op, std::string_view kernel) {
  return is_gemm(bare_name(op)) ? is_gemm_kernel(kernel) : is_elementwise_kernel(kernel);
}

Work work_of(const Op& op) {
  const auto bare = bare_name(op.name);
  if (is_gemm(bare)) return gemm_work(bare, arguments_of(op));
  if (is_elementwise(bare)) return elementwise_work(bare, arguments_of(op));
  return {};
}

} // namespace umf::traces::kineto
