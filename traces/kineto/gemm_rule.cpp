#include "traces/kineto/gemm_rule.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace umf::traces::kineto {

namespace {

struct Positions {
  std::string_view op;
  std::size_t left;
  std::size_t right;
  std::optional<std::size_t> added; ///< bias or the matrix added
  Part right_part;
  Part added_part;
};

constexpr std::array<Positions, 11> kGemms{
    {{"mm", 0, 1, std::nullopt, Part::maybe_weight, Part::activation},
     {"addmm", 1, 2, 0, Part::weight, Part::weight},
     {"bmm", 0, 1, std::nullopt, Part::activation, Part::activation},
     {"baddbmm", 1, 2, 0, Part::activation, Part::activation},
     {"matmul", 0, 1, std::nullopt, Part::maybe_weight, Part::activation},
     {"linear", 0, 1, 2, Part::weight, Part::weight},
     {"_addmm_activation", 1, 2, 0, Part::weight, Part::weight},
     {"mv", 0, 1, std::nullopt, Part::activation, Part::activation},
     {"dot", 0, 1, std::nullopt, Part::activation, Part::activation},
     {"_scaled_mm", 0, 1, 4, Part::weight, Part::weight},
     {"aiter::gemm_a16w16", 0, 1, 2, Part::weight, Part::weight}}};

const Positions* find(std::string_view op) {
  const auto found =
      std::find_if(kGemms.begin(), kGemms.end(), [&](const Positions& p) { return p.op == op; });
  return found == kGemms.end() ? nullptr : &*found;
}

/// Leading dimensions of two batches, broadcast.
bool broadcast_batch(const Shape& a, const Shape& b, Shape& batch) {
  batch = a.size() >= b.size() ? a : b;
  const auto& shorter = a.size() >= b.size() ? b : a;
  const auto shift = batch.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    auto& dim = batch[shift + i];
    if (dim != shorter[i] && dim != 1 && shorter[i] != 1) return false;
    if (dim == 1) dim = shorter[i];
  }
  return true;
}

struct Product {
  Shape result;
  std::int64_t depth = 0; ///< k
};

/// Shape of left × right; a vector takes part as a row or a column.
std::optional<Product> product(Shape left, Shape right, bool right_transposed) {
  if (left.empty() || right.empty()) return std::nullopt;
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  if (right_transposed && !column) std::swap(right[right.size() - 1], right[right.size() - 2]);
  const auto m = left[left.size() - 2];
  const auto k = left[left.size() - 1];
  const auto n = right[right.size() - 1];
  if (right[right.size() - 2] != k) return std::nullopt;
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  Product product;
  product.depth = k;
  if (!broadcast_batch(left, right, product.result)) return std::nullopt;
  if (!row) product.result.push_back(m);
  if (!column) product.result.push_back(n);
  return product;
}

/// "Concrete Inputs" of addmm and baddbmm: beta = 0 means that the matrix added is not read.
bool is_read(const std::vector<Argument>& arguments, std::string_view op) {
  constexpr std::size_t beta = 3;
  if (op != "addmm" && op != "baddbmm") return true;
  return arguments.size() <= beta ||
         (arguments[beta].concrete != "0" && arguments[beta].concrete != "0.");
}

/// A transposed view (column-major) of a second factor is how linear layers pass weights.
bool is_transposed_view(const InputTensor& tensor) {
  return tensor.strides.size() == 2 && tensor.strides[0] == 1 && tensor.strides[1] > 1;
}

/// Operators that take their weight as (outputs, inputs).
bool takes_rows(std::string_view op) {
  return op == "linear" || op == "aiter::gemm_a16w16";
}

Operand bias_operand(const InputTensor& tensor, std::size_t argument, Part part) {
  auto operand = read_operand(tensor, argument, part);
  operand.slot = Slot::bias;
  return operand;
}

/// That of the left factor, unless an operator on 8-bit factors names another.
stream::DType result_type(const OperatorCall& call, stream::DType left) {
  constexpr std::size_t out_dtype = 6;
  if (call.op != "_scaled_mm") return left;
  const auto number = number_at(call.arguments, out_dtype);
  return number ? dtype_from_number(*number) : call.half;
}

} // namespace

bool is_gemm(std::string_view op) {
  return find(op) != nullptr;
}

bool is_gemm_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 11> words{"gemm",  "GEMM", "cutlass", "xmma",
                                                   "Cijk",  "gemv", "cublas",  "nvjet",
                                                   "wgrad", "Gemm", "matmul"};
  // splitK reductions carry the library's name but only add up partial results.
  if (kernel.find("splitKreduce") != std::string_view::npos) return false;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work gemm_work(const OperatorCall& call) {
  const auto& arguments = call.arguments;
  const auto* at = find(call.op);
  const auto* left = at ? tensor_at(arguments, at->left) : nullptr;
  const auto* right = at ? tensor_at(arguments, at->right) : nullptr;
  if (!left || !right || stream::bits_of(left->dtype) == 0) return {};
  auto shape = product(left->shape, right->shape, takes_rows(call.op));
  const auto results = shape ? elements_of(shape->result) : 0;
  if (results == 0 || shape->depth <= 0) return {};

  Work work;
  work.rule = stream::Rule::gemm;
  work.flops = 2.0 * static_cast<double>(results) * static_cast<double>(shape->depth);
  work.flops_dtype = left->dtype;
  auto right_part = at->right_part;
  if (right_part == Part::maybe_weight && is_transposed_view(*right)) right_part = Part::weight;
  work.operands.push_back(read_operand(*left, at->left, Part::activation));
  work.operands.push_back(read_operand(*right, at->right, right_part));
  if (at->added && is_read(arguments, call.op))
    if (const auto* added = tensor_at(arguments, *at->added))
      work.operands.push_back(bias_operand(*added, *at->added, at->added_part));
  const auto dtype = result_type(call, left->dtype);
  if (stream::bits_of(dtype) == 0) return {};
  work.operands.push_back(result_operand(std::move(shape->result), dtype));
  return work;
}

} // namespace umf::traces::kineto
