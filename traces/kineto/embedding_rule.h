#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Rows looked up in a table or written into one: embedding, index_select, gather, take, and
/// the stores of new keys and values into a paged cache by vllm and sglang.
bool is_embedding(std::string_view op);
bool is_embedding_kernel(std::string_view kernel);

/// A look-up moves the indices, the rows (as many as there are indices, at most all; the
/// profiler does not record which, so rows asked for twice count twice) and the result. The
/// table is a weight if no activation of its shape is live.
Work embedding_work(const OperatorCall& call);

} // namespace umf::traces::kineto
