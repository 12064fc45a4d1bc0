#include "traces/kineto/embedding_rule.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace umf::traces::kineto {

namespace {

enum class Form : std::uint8_t {
  table,    ///< (table, indices, ...): rows of dimension 0
  selected, ///< (table, dimension, indices)
  elements, ///< (input, dimension, indices): one element an index
  taken,    ///< (input, indices): one element an index
  backward, ///< (grad, indices, rows, ...): the gradient of a dense table
  stored    ///< (keys, values, key cache, value cache, ..., slots): rows of both caches
};

struct Lookup {
  std::string_view op;
  Form form;
};

constexpr Lookup kLookups[] = {{"embedding", Form::table},
                               {"index_select", Form::selected},
                               {"gather", Form::elements},
                               {"take", Form::taken},
                               {"embedding_dense_backward", Form::backward},
                               {"_C_cache_ops::reshape_and_cache_flash", Form::stored},
                               {"_C_cache_ops::reshape_and_cache", Form::stored},
                               {"sglang::store_cache", Form::stored},
                               {"sgl_kernel::store_kv_cache", Form::stored}};

const Lookup* find(std::string_view op) {
  const auto* found = std::find_if(std::begin(kLookups), std::end(kLookups),
                                   [&](const Lookup& l) { return l.op == op; });
  return found == std::end(kLookups) ? nullptr : found;
}

/// A table row for each index.
Work table_work(const Arguments& arguments) {
  const auto* table = tensor_at(arguments, 0);
  const auto* indices = tensor_at(arguments, 1);
  if (!table || !indices || table->shape.size() != 2) return {};
  Shape result = indices->shape;
  result.push_back(table->shape[1]);
  return WorkBuilder(stream::Rule::embedding, arguments)
      .read(1)
      .gather(0, 0, elements_of(indices->shape), Part::weight)
      .write(std::move(result), table->dtype)
      .build();
}

std::optional<std::size_t> dimension_of(const Arguments& arguments, std::size_t rank) {
  // Embeddings select rows; where the dimension is not recorded it is taken to be the first.
  auto dimension = number_at(arguments, 1).value_or(0);
  if (dimension < 0) dimension += static_cast<std::int64_t>(rank);
  if (dimension < 0 || dimension >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(dimension);
}

Work selected_work(const Arguments& arguments) {
  const auto* table = tensor_at(arguments, 0);
  const auto* indices = tensor_at(arguments, 2);
  if (!table || !indices) return {};
  const auto dimension = dimension_of(arguments, table->shape.size());
  if (!dimension) return {};
  Shape result = table->shape;
  result[*dimension] = static_cast<std::int64_t>(elements_of(indices->shape));
  return WorkBuilder(stream::Rule::embedding, arguments)
      .read(2)
      .gather(0, *dimension, elements_of(indices->shape), Part::maybe_weight)
      .write(std::move(result), table->dtype)
      .build();
}

/// index_select of long rows is a gather by indices that are expanded along the row.
bool are_rows(const InputTensor& indices) {
  return !indices.strides.empty() && indices.shape.size() > 1 &&
         elements_of(stored_shape(indices)) < elements_of(indices.shape);
}

/// One element of the input for each index.
Work elements_work(const Arguments& arguments, std::size_t at) {
  const auto* input = tensor_at(arguments, 0);
  const auto* indices = tensor_at(arguments, at);
  if (!input || !indices || elements_of(input->shape) == 0) return {};
  auto read = read_operand(*input, 0, are_rows(*indices) ? Part::maybe_weight : Part::activation);
  const auto wanted = stream::storage_of(input->dtype, elements_of(indices->shape)).count;
  read.gather = wanted < read.bytes;
  read.bytes = std::min(read.bytes, wanted);
  auto work = WorkBuilder(stream::Rule::embedding, arguments)
                  .read(at)
                  .write(indices->shape, input->dtype)
                  .build();
  if (work.rule == stream::Rule::unknown || read.bytes == 0) return {};
  work.operands.insert(work.operands.begin() + 1, std::move(read));
  return work;
}

/// The dense gradient is as large as the table: zeros are written too, by another kernel, so
/// that this one adds up one row for each index.
Work backward_work(const Arguments& arguments) {
  const auto* gradient = tensor_at(arguments, 0);
  const auto* indices = tensor_at(arguments, 1);
  const auto rows = number_at(arguments, 2);
  if (!gradient || !indices || !rows || *rows <= 0 || gradient->shape.empty()) return {};
  auto table = result_operand({*rows, gradient->shape.back()}, gradient->dtype);
  const auto wanted = stream::storage_of(gradient->dtype, elements_of(gradient->shape)).count;
  table.gather = wanted < table.bytes;
  table.bytes = std::min(table.bytes, wanted);
  auto work = WorkBuilder(stream::Rule::embedding, arguments).read(0).read(1).build();
  if (work.rule == stream::Rule::unknown || table.bytes == 0) return {};
  work.operands.push_back(std::move(table));
  return work;
}

/// New keys and values go to their slots. The cache itself is not told from those of other
/// layers that may share its storage, so the rows stand for themselves.
Work stored_work(const Arguments& arguments) {
  constexpr std::size_t slots = 4;
  const auto* keys = tensor_at(arguments, 0);
  const auto* values = tensor_at(arguments, 1);
  const auto* key_cache = tensor_at(arguments, 2);
  const auto* value_cache = tensor_at(arguments, 3);
  if (!keys || !values || !key_cache || !value_cache) return {};
  return WorkBuilder(stream::Rule::embedding, arguments)
      .read(0)
      .read(1)
      .read(slots)
      .write(keys->shape, key_cache->dtype)
      .write(values->shape, value_cache->dtype)
      .build();
}

} // namespace

bool is_embedding(std::string_view op) {
  return find(op) != nullptr;
}

bool is_embedding_kernel(std::string_view kernel) {
  constexpr std::array<std::string_view, 5> words{"ndex", "ather", "mbedding", "cache", "take"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return kernel.find(word) != std::string_view::npos;
  });
}

Work embedding_work(const OperatorCall& call) {
  const auto* lookup = find(call.op);
  if (!lookup) return {};
  switch (lookup->form) {
  case Form::table:
    return table_work(call.arguments);
  case Form::selected:
    return selected_work(call.arguments);
  case Form::elements:
    return elements_work(call.arguments, 2);
  case Form::taken:
    return elements_work(call.arguments, 1);
  case Form::backward:
    return backward_work(call.arguments);
  case Form::stored:
    return stored_work(call.arguments);
  }
  return {};
}

} // namespace umf::traces::kineto
