#include "traces/kineto/reduction_rule.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace umf::traces::kineto {

namespace {

using stream::DType;

enum class Form : std::uint8_t {
  fold,    ///< (input [, dimensions [, keepdim ...]])
  extreme, ///< (input [, dimension [, keepdim]]): value and index along a dimension
  scan,    ///< (input, dimension): keeps the shape
  sort,    ///< (input, ...): sorted values and their places
  top      ///< (input, k [, dimension ...]): values and places
};

enum class Result : std::uint8_t { same, sum, index, truth };

struct Reduction {
  std::string_view op;
  Form form;
  Result result = Result::same;
  std::size_t dimensions = 1; ///< argument that holds them
};

constexpr Reduction kReductions[] = {{"sum", Form::fold, Result::sum},
                                     {"nansum", Form::fold, Result::sum},
                                     {"mean", Form::fold},
                                     {"prod", Form::fold, Result::sum},
                                     {"amax", Form::fold},
                                     {"amin", Form::fold},
                                     {"argmax", Form::fold, Result::index},
                                     {"argmin", Form::fold, Result::index},
                                     {"any", Form::fold, Result::truth},
                                     {"all", Form::fold, Result::truth},
                                     {"var", Form::fold},
                                     {"std", Form::fold},
                                     {"logsumexp", Form::fold},
                                     {"count_nonzero", Form::fold, Result::index},
                                     {"norm", Form::fold, Result::same, 2},
                                     {"linalg_vector_norm", Form::fold, Result::same, 2},
                                     {"max", Form::extreme},
                                     {"min", Form::extreme},
                                     {"cumsum", Form::scan, Result::sum},
                                     {"cumprod", Form::scan, Result::sum},
                                     {"logcumsumexp", Form::scan},
                                     {"sort", Form::sort},
                                     {"topk", Form::top}};

const Reduction* find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kReductions), std::end(kReductions),
                                   [&](const Reduction& r) { return r.op == op; });
  return found == std::end(kReductions) ? nullptr : found;
}

bool is_floating(DType dtype) {
  switch (dtype) {
  case DType::boolean:
  case DType::u8:
  case DType::i8:
  case DType::i16:
  case DType::i32:
  case DType::i64:
    return false;
  default:
    return true;
  }
}

DType result_type(Result result, DType input) {
  if (result == Result::index) return DType::i64;
  if (result == Result::truth) return DType::boolean;
  return result == Result::sum && !is_floating(input) ? DType::i64 : input;
}

/// The reduced dimensions as recorded: a list, a number, or all of them.
std::optional<Shape> reduced(const Arguments& arguments, std::size_t at, std::size_t rank) {
  Shape all;
  for (std::size_t i = 0; i < rank; ++i)
    all.push_back(static_cast<std::int64_t>(i));
  if (arguments.size() <= at) return all;
  auto list = list_at(arguments, at);
  if (!list)
    if (const auto number = number_at(arguments, at)) list = Shape{*number};
  if (!list) return std::nullopt;
  if (list->empty()) return all;
  for (auto& dimension : *list) {
    if (dimension < 0) dimension += static_cast<std::int64_t>(rank);
    if (dimension < 0 || dimension >= static_cast<std::int64_t>(rank)) return std::nullopt;
  }
  return list;
}

Shape without(const Shape& shape, const Shape& dimensions, bool keep) {
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool goes = std::find(dimensions.begin(), dimensions.end(),
                                static_cast<std::int64_t>(i)) != dimensions.end();
    if (!goes) result.push_back(shape[i]);
    if (goes && keep) result.push_back(1);
  }
  return result;
}

Work folded(const Reduction& reduction, const Arguments& arguments, const InputTensor& input,
            WorkBuilder& work) {
  const bool extreme = reduction.form == Form::extreme;
  // max(input, other) is elementwise and has no reduced dimension.
  if (extreme && tensor_at(arguments, 1)) return {};
  work.read(0);
  const auto dimensions = reduced(arguments, reduction.dimensions, input.shape.size());
  if (!dimensions) return work.build();
  const bool keep = flag_at(arguments, reduction.dimensions + 1).value_or(false);
  const auto shape = without(input.shape, *dimensions, keep);
  work.write(shape, result_type(reduction.result, input.dtype));
  if (extreme && arguments.size() > 1) work.write(shape, DType::i64);
  return work.build();
}

Work top(const Arguments& arguments, const InputTensor& input, WorkBuilder& work) {
  const auto count = number_at(arguments, 1);
  const auto rank = static_cast<std::int64_t>(input.shape.size());
  work.read(0);
  if (!count) return work.build();
  auto dimension = number_at(arguments, 2).value_or(-1);
  if (dimension < 0) dimension += rank;
  if (dimension < 0 || dimension >= rank) return {};
  Shape shape = input.shape;
  shape[static_cast<std::size_t>(dimension)] = *count;
  return work.write(shape, input.dtype).write(shape, DType::i64).build();
}

} // namespace

bool is_reduction(std::string_view op) {
  return find(op) != nullptr;
}

bool is_reduction_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 6> words{"educe", "Scan", "scan", "ort", "topk", "Topk"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work reduction_work(const OperatorCall& call) {
  const auto* reduction = find(call.op);
  const auto* input = tensor_at(call.arguments, 0);
  if (!reduction || !input) return {};
  WorkBuilder work(stream::Rule::reduction, call.arguments);
  switch (reduction->form) {
  case Form::fold:
  case Form::extreme:
    return folded(*reduction, call.arguments, *input, work);
  case Form::scan:
    return work.read(0).write(input->shape, result_type(reduction->result, input->dtype)).build();
  case Form::sort:
    return work.read(0).write_like(0).write(input->shape, DType::i64).build();
  case Form::top:
    return top(call.arguments, *input, work);
  }
  return {};
}

} // namespace umf::traces::kineto
