#include "traces/kineto/operands.h"

#include "traces/kineto/decimal.h"
#include "traces/kineto/text_repair.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace umf::traces::kineto {

namespace {

constexpr int kDeepestList = 8;
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 56;

/// A JSON array of arrays, numbers and strings.
struct Node {
  std::vector<Node> items;
  std::string text; ///< of a scalar
  bool list = false;
};

class ListParser {
public:
  explicit ListParser(std::string_view text) : text_(text) {}

  bool parse(Node& node, int depth = 0) {
    skip_blank();
    if (text_.empty() || depth > kDeepestList) return false;
    if (text_.front() == '[') return parse_list(node, depth);
    if (text_.front() == '"') return parse_string(node);
    const auto end = std::min(text_.find_first_of(",] \n\t\r"), text_.size());
    node.text = text_.substr(0, end);
    text_.remove_prefix(end);
    return end > 0;
  }

private:
  bool parse_list(Node& node, int depth) {
    node.list = true;
    text_.remove_prefix(1);
    for (;;) {
      skip_blank();
      if (text_.empty()) return false;
      if (text_.front() == ']') {
        text_.remove_prefix(1);
        return true;
      }
      if (text_.front() == ',') {
        text_.remove_prefix(1);
        continue;
      }
      if (!parse(node.items.emplace_back(), depth + 1)) return false;
    }
  }

  bool parse_string(Node& node) {
    std::size_t end = 1;
    while (end < text_.size() && text_[end] != '"')
      end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    unescape(text_.substr(1, end - 1), node.text);
    text_.remove_prefix(end + 1);
    return true;
  }

  void skip_blank() {
    const auto first = text_.find_first_not_of(" \n\t\r");
    text_.remove_prefix(std::min(first, text_.size()));
  }

  std::string_view text_;
};

Node list_from(std::string_view text) {
  Node node;
  if (text.empty() || !ListParser(text).parse(node) || !node.list) return {};
  return node;
}

bool to_shape(const Node& node, Shape& shape) {
  for (const auto& item : node.items) {
    const auto value = whole_number(item.text);
    if (item.list || !value || *value < 0) return false;
    shape.push_back(*value);
  }
  return true;
}

bool add_tensor(const Node& dims, const Node* strides, stream::DType dtype, Argument& argument) {
  InputTensor tensor;
  tensor.dtype = dtype;
  if (!to_shape(dims, tensor.shape)) return false;
  if (strides && strides->items.size() == dims.items.size() && !to_shape(*strides, tensor.strides))
    tensor.strides.clear();
  argument.tensors.push_back(std::move(tensor));
  return true;
}

const Node* item_of(const Node& list, std::size_t i) {
  return i < list.items.size() ? &list.items[i] : nullptr;
}

/// A TensorList nests one level deeper than a tensor.
bool read_argument(const Node& dims, const Node* strides, Argument& argument) {
  if (!dims.list) return true;
  if (dims.items.empty()) {
    argument.scalar = true;
    return true;
  }
  if (!dims.items.front().list) return add_tensor(dims, strides, argument.dtype, argument);
  argument.list = true;
  for (std::size_t i = 0; i < dims.items.size(); ++i)
    if (!add_tensor(dims.items[i], strides ? item_of(*strides, i) : nullptr, argument.dtype,
                    argument))
      return false;
  return true;
}

} // namespace

std::vector<Argument> arguments_of(const Op& op) {
  const Node dims = list_from(op.dims);
  const Node types = list_from(op.types);
  const Node strides = list_from(op.strides);
  const Node concrete = list_from(op.concrete);
  std::vector<Argument> arguments;
  for (std::size_t i = 0; i < dims.items.size(); ++i) {
    Argument argument;
    if (const auto* type = item_of(types, i)) argument.dtype = dtype_from(type->text);
    if (const auto* value = item_of(concrete, i)) argument.concrete = value->text;
    if (!read_argument(dims.items[i], item_of(strides, i), argument)) return {};
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

const InputTensor* tensor_at(const std::vector<Argument>& arguments, std::size_t i) {
  if (i >= arguments.size() || arguments[i].list || arguments[i].tensors.size() != 1)
    return nullptr;
  return &arguments[i].tensors.front();
}

std::optional<std::int64_t> number_at(const std::vector<Argument>& arguments, std::size_t i) {
  return i < arguments.size() ? whole_number(arguments[i].concrete) : std::nullopt;
}

std::optional<bool> flag_at(const std::vector<Argument>& arguments, std::size_t i) {
  if (i >= arguments.size()) return std::nullopt;
  const auto& text = arguments[i].concrete;
  if (text == "True" || text == "1") return true;
  if (text == "False" || text == "0") return false;
  return std::nullopt;
}

std::optional<Shape> list_at(const std::vector<Argument>& arguments, std::size_t i) {
  if (i >= arguments.size() || arguments[i].concrete.empty()) return std::nullopt;
  std::string_view text = arguments[i].concrete;
  if (text.front() != '[' || text.back() != ']') return std::nullopt;
  Shape values;
  for (text = text.substr(1, text.size() - 2); !text.empty();) {
    const auto end = std::min(text.find(','), text.size());
    const auto first = std::min(text.find_first_not_of(' '), end);
    const auto value = whole_number(text.substr(first, end - first));
    if (!value) return std::nullopt;
    values.push_back(*value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}

stream::DType dtype_from(std::string_view name) {
  using stream::DType;
  constexpr std::array<std::pair<std::string_view, DType>, 24> table{
      {{"float", DType::f32},
       {"double", DType::f64},
       {"c10::Half", DType::f16},
       {"c10::BFloat16", DType::bf16},
       {"c10::Float8_e4m3fn", DType::f8},
       {"c10::Float8_e4m3fnuz", DType::f8},
       {"c10::Float8_e5m2", DType::f8},
       {"c10::Float8_e5m2fnuz", DType::f8},
       {"long", DType::i64},
       {"long int", DType::i64},
       {"long long", DType::i64},
       {"int", DType::i32},
       {"short", DType::i16},
       {"short int", DType::i16},
       {"signed char", DType::i8},
       {"char", DType::i8},
       {"unsigned char", DType::u8},
       {"bool", DType::boolean},
       {"c10::complex<float>", DType::c64},
       {"c10::complex<double>", DType::c128},
       {"std::complex<float>", DType::c64},
       {"half", DType::f16},
       {"bfloat16", DType::bf16},
       {"at::Half", DType::f16}}};
  for (const auto& [text, dtype] : table)
    if (text == name) return dtype;
  return DType::unknown;
}

stream::DType dtype_from_number(std::int64_t number) {
  using stream::DType;
  constexpr std::array<DType, 16> table{
      DType::u8,      DType::i8,      DType::i16,     DType::i32, DType::i64,  DType::f16,
      DType::f32,     DType::f64,     DType::unknown, DType::c64, DType::c128, DType::boolean,
      DType::unknown, DType::unknown, DType::unknown, DType::bf16};
  if (number < 0 || static_cast<std::size_t>(number) >= table.size()) return DType::unknown;
  return table[static_cast<std::size_t>(number)];
}

std::uint64_t elements_of(const Shape& shape) {
  std::uint64_t elements = 1;
  for (const auto dim : shape) {
    const auto count = static_cast<std::uint64_t>(dim);
    if (count == 0 || elements > kMostElements / count) return 0;
    elements *= count;
  }
  return elements;
}

Shape stored_shape(const InputTensor& tensor) {
  Shape shape = tensor.shape;
  for (std::size_t i = 0; i < tensor.strides.size(); ++i)
    if (tensor.strides[i] == 0 && shape[i] > 1) shape[i] = 1;
  return shape;
}

std::uint64_t stored_elements(const InputTensor& tensor) {
  const auto elements = elements_of(stored_shape(tensor));
  if (tensor.strides.empty() || elements == 0) return elements;
  std::uint64_t extent = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const auto steps = static_cast<std::uint64_t>(tensor.shape[i] - 1);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[i]);
    if (steps != 0 && stride > kMostElements / steps) return elements;
    extent += steps * stride;
    if (extent >= elements) return elements;
  }
  return extent;
}

} // namespace umf::traces::kineto
