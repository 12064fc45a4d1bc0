#include "traces/kineto/attention_rule.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace umf::traces::kineto {

namespace {

constexpr int kNone = -1;

/// Order of the dimensions of Q, K and V.
enum class Layout : std::uint8_t { heads_first, tokens_first };

/// How an operator says which keys a query may see.
enum class Mask : std::uint8_t {
  flag,  ///< is_causal; the last query sees the last key
  number ///< custom_mask_type: 1 causal from the top left, 2 from the bottom right
};

/// Where an operator has its arguments (native_functions.yaml, flash_attn_interface.py).
struct Form {
  std::string_view op;
  Layout layout;
  int query;     ///< then key and value
  int gradient;  ///< of the result; kNone forward
  int result;    ///< backward: the forward pass's result
  int logsumexp; ///< forward: the flag that asks for it; kNone where it is always written
  int bias;
  int lengths; ///< cumulative sequence lengths of the queries, where tokens are packed
  int causal;
  Mask mask = Mask::flag;
};

constexpr Form kForms[] = {
    {"_scaled_dot_product_flash_attention", Layout::heads_first, 0, kNone, kNone, kNone, kNone,
     kNone, 4},
    {"_scaled_dot_product_efficient_attention", Layout::heads_first, 0, kNone, kNone, 4, 3, kNone,
     6},
    {"_scaled_dot_product_cudnn_attention", Layout::heads_first, 0, kNone, kNone, 4, 3, kNone, 6},
    {"_cudnn_attention_forward", Layout::heads_first, 0, kNone, kNone, 8, 3, 4, 10},
    {"_flash_attention_forward", Layout::tokens_first, 0, kNone, kNone, kNone, kNone, 3, 8},
    {"_efficient_attention_forward", Layout::tokens_first, 0, kNone, kNone, 10, 3, 4, 9,
     Mask::number},
    {"flash_attn::_flash_attn_forward", Layout::tokens_first, 0, kNone, kNone, kNone, kNone, kNone,
     5},
    {"flash_attn::_flash_attn_varlen_forward", Layout::tokens_first, 0, kNone, kNone, kNone, kNone,
     3, 9},
    {"FlashAttnFunc", Layout::tokens_first, 0, kNone, kNone, kNone, kNone, kNone, 5},
    {"FlashAttnVarlenFunc", Layout::tokens_first, 0, kNone, kNone, kNone, kNone, 3, 9},
    {"_scaled_dot_product_flash_attention_backward", Layout::heads_first, 1, 0, 4, 5, kNone, 6, 11},
    {"_scaled_dot_product_efficient_attention_backward", Layout::heads_first, 1, 0, 5, 6, 4, kNone,
     11},
    {"_scaled_dot_product_cudnn_attention_backward", Layout::heads_first, 1, 0, 4, 5, 8, 9, 14},
    {"_flash_attention_backward", Layout::tokens_first, 1, 0, 4, 5, kNone, 6, 11},
    {"_efficient_attention_backward", Layout::tokens_first, 1, 0, 5, 10, 4, 6, 14, Mask::number},
    {"flash_attn::_flash_attn_backward", Layout::tokens_first, 1, 0, 4, 5, kNone, kNone, 11},
    {"flash_attn::_flash_attn_varlen_backward", Layout::tokens_first, 1, 0, 4, 5, kNone, 9, 15}};

const Form* find(std::string_view op) {
  const auto* found =
      std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return f.op == op; });
  return found == std::end(kForms) ? nullptr : found;
}

std::size_t place(int argument) {
  return static_cast<std::size_t>(argument);
}

/// The sizes of one call; tokens and keys are those of one sequence.
struct Sizes {
  std::int64_t batch = 1;
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t depth = 0;
  std::int64_t value_depth = 0;
};

/// Packed sequences (three dimensions) are taken to be of equal length: their lengths are
/// on the device and in no trace.
std::optional<Sizes> packed_sizes(const Form& form, const Arguments& arguments, const Shape& q,
                                  const Shape& k, const Shape& v) {
  const auto* lengths = form.lengths == kNone ? nullptr : tensor_at(arguments, place(form.lengths));
  if (!lengths || lengths->shape.size() != 1 || lengths->shape[0] < 2) return std::nullopt;
  const auto sequences = lengths->shape[0] - 1;
  return Sizes{sequences, q[1], q[0] / sequences, k[0] / sequences, q[2], v[2]};
}

std::optional<Sizes> sizes_of(const Form& form, const Arguments& arguments) {
  const auto* q = tensor_at(arguments, place(form.query));
  const auto* k = tensor_at(arguments, place(form.query) + 1);
  const auto* v = tensor_at(arguments, place(form.query) + 2);
  if (!q || !k || !v) return std::nullopt;
  const auto rank = q->shape.size();
  if (k->shape.size() != rank || v->shape.size() != rank) return std::nullopt;
  if (q->shape.back() != k->shape.back()) return std::nullopt;
  if (rank == 3) return packed_sizes(form, arguments, q->shape, k->shape, v->shape);
  if (rank != 4) return std::nullopt;
  const std::size_t token = form.layout == Layout::heads_first ? 2 : 1;
  const std::size_t head = 3 - token;
  return Sizes{q->shape[0],     q->shape[head], q->shape[token],
               k->shape[token], q->shape[3],    v->shape[3]};
}

/// Query-key pairs that a mask leaves, of one head of one sequence.
double pairs(const Sizes& sizes, std::int64_t mask) {
  const auto queries = static_cast<double>(sizes.queries);
  const auto keys = static_cast<double>(sizes.keys);
  const auto shorter = std::min(queries, keys);
  const auto triangle = shorter * (shorter + 1) / 2;
  if (mask == 1) return triangle + std::max(0.0, queries - keys) * keys; // from the top left
  if (mask == 2) return triangle + std::max(0.0, keys - queries) * queries;
  return queries * keys;
}

std::int64_t mask_of(const Form& form, const Arguments& arguments) {
  const auto at = place(form.causal);
  if (form.mask == Mask::number) return number_at(arguments, at).value_or(0);
  return flag_at(arguments, at).value_or(false) ? 2 : 0;
}

double flops_of(const Sizes& sizes, std::int64_t mask) {
  return 2.0 * static_cast<double>(sizes.batch) * static_cast<double>(sizes.heads) *
         pairs(sizes, mask) * static_cast<double>(sizes.depth + sizes.value_depth);
}

/// Shape of the result: that of the queries with the depth of the values.
Shape result_shape(const InputTensor& query, const Sizes& sizes) {
  Shape shape = query.shape;
  shape.back() = sizes.value_depth;
  return shape;
}

Shape logsumexp_shape(const InputTensor& query, const Sizes& sizes) {
  if (query.shape.size() == 3) return {sizes.heads, query.shape[0]};
  return {sizes.batch, sizes.heads, sizes.queries};
}

} // namespace

bool is_attention(std::string_view op) {
  return find(op) != nullptr;
}

bool is_attention_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 5> words{"flash", "fmha", "attention", "attn", "sdpa"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work attention_work(const OperatorCall& call) {
  const auto* form = find(call.op);
  const auto sizes = form ? sizes_of(*form, call.arguments) : std::nullopt;
  if (!sizes) return {};
  const auto q = place(form->query);
  const auto& query = *tensor_at(call.arguments, q);
  const auto forward = flops_of(*sizes, mask_of(*form, call.arguments));
  WorkBuilder work(stream::Rule::attention, call.arguments);
  work.read(q).read(q + 1).read(q + 2);
  if (form->bias != kNone) work.may_read(place(form->bias));
  if (form->gradient == kNone) {
    work.write(result_shape(query, *sizes), query.dtype).flops(forward, query.dtype);
    if (form->logsumexp == kNone || flag_at(call.arguments, place(form->logsumexp)).value_or(true))
      work.write(logsumexp_shape(query, *sizes), stream::DType::f32);
    return work.build();
  }
  constexpr double products = 2.5; // S, dP, dV, dQ and dK where forward has S and O
  return work.read(place(form->gradient))
      .read(place(form->result))
      .read(place(form->logsumexp))
      .write_like(q)
      .write_like(q + 1)
      .write_like(q + 2)
      .flops(products * forward, query.dtype)
      .build();
}

} // namespace umf::traces::kineto
