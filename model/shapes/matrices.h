#pragma once

#include "model/shapes/model.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace umf::shapes {

/// What a matrix belongs to, for totals.
enum class Part : std::uint8_t { attention, ffn, expert, router, norm, residual, embedding };
inline constexpr std::size_t kParts = 7;
std::string_view name_of(Part part);

/// Every matrix a model can have. Matrices that frameworks join into one product are one here.
enum class Slot : std::uint8_t {
  input_norm,
  residual_attention, ///< mixing of residual streams before attention
  qkv,
  qkv_bias,
  q_norm,
  k_norm,
  qkv_a, ///< to the ranks of queries and of keys and values
  q_a_norm,
  q_b, ///< queries from their rank, or at once where they have none
  kv_a_norm,
  kv_b, ///< keys and values of all heads from the latent
  output,
  output_a, ///< by groups of heads
  output_b,
  attention_sink,
  compressor,
  compressor_rest, ///< positions and norm
  index_q,
  index_weights,
  index_compressor,
  index_compressor_rest,
  post_norm,
  residual_ffn,
  gate_up,
  down,
  router,
  router_bias,
  shared_gate_up,
  shared_down,
  expert_gate_up,
  expert_down,
  embedding,
  residual_head,
  final_norm,
  lm_head
};
inline constexpr std::size_t kSlots = static_cast<std::size_t>(Slot::lm_head) + 1;
std::string_view name_of(Slot slot);

/// `out` × `in` numbers on one of the GPUs that share the model; a vector has `in` = 1.
struct Matrix {
  Slot slot{};
  Part part{};
  std::uint64_t out = 0;
  std::uint64_t in = 1;
  std::uint32_t copies = 1; ///< experts
  bool quantised = false;   ///< has the number format of matrices (or experts), else bf16

  std::uint64_t elements() const { return out * in * copies; }
};

/// Matrices of one layer on one of `tp` GPUs: heads, widths and vocabulary are split, what is left
/// is on each.
std::vector<Matrix> matrices_of_layer(const Model& model, std::uint32_t layer,
                                      std::uint32_t tp = 1);
/// Those before and after the layers.
std::vector<Matrix> matrices_around(const Model& model, std::uint32_t tp = 1);

/// Throws UserError with what `tp` does not divide.
void check_parallel(const Model& model, std::uint32_t tp);

/// Heads of keys and values on one of `tp` GPUs: at least one, so that some are on several.
std::uint32_t kv_heads_on(const FullAttention& attention, std::uint32_t tp);

struct WeightFormats {
  Format matrices, experts;
  Format rest{}; ///< what is not quantised
};
WeightFormats published_formats(const Model& model);
/// As named on a command line (parse_format), experts as matrices unless named; empty: as
/// published. Throws UserError.
WeightFormats weight_formats(const Model& model, std::string_view matrices,
                             std::string_view experts = {});

const Format& format_of(const Matrix& matrix, const WeightFormats& formats);
/// Of all copies; groups run along `in`.
Bytes bytes_of(const Matrix& matrix, const WeightFormats& formats);

} // namespace umf::shapes
