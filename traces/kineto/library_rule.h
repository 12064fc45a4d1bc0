#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Pointwise kernels of vllm, sglang and aiter: gated activations, quantisation to 8 bits and
/// rotary embeddings. Under the elementwise rule.
bool is_library_pointwise(std::string_view op);
bool is_library_kernel(std::string_view kernel);

Work library_pointwise_work(const OperatorCall& call);

} // namespace umf::traces::kineto
