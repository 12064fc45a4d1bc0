#pragma once

#include "traces/kineto/work.h"

#include <string_view>

namespace umf::traces::kineto {

/// Fused attention of PyTorch and of flash_attn, forward and backward, whose arguments hold
/// all keys and values. Operators on a paged cache are not here: no trace says how much of
/// the cache they read.
bool is_attention(std::string_view op);
bool is_attention_kernel(std::string_view kernel);

/// Queries, keys, values read; result and log-sum-exp written; 2·H·pairs·(D + Dv) FLOPs,
/// where pairs are the query-key pairs a causal mask leaves (Dao et al., FlashAttention-2,
/// 2023, count the same), and 2.5 times that backward (five products in place of two).
Work attention_work(const OperatorCall& call);

} // namespace umf::traces::kineto
