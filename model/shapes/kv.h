#pragma once

#include "model/shapes/model.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace umf::shapes {

/// One kind of what a layer keeps of the tokens of a sequence.
struct KvPart {
  std::string_view name; ///< "key", "latent", "compressed", ...
  stream::Role role{};
  std::uint32_t heads = 0;   ///< on this GPU
  std::uint32_t numbers = 0; ///< of a head, in the cache's number format
  Bytes entry{};             ///< of an entry whatever the format; 0: by the format
  std::uint32_t tokens_per_entry = 1;
  std::uint64_t window = 0; ///< entries kept at most, the newest; 0: all
  std::uint32_t top_k = 0;  ///< entries a token reads at most, chosen; 0: all kept
  bool operator==(const KvPart&) const = default;
};

/// What layer `layer` keeps on one of `tp` GPUs: KV heads are split, what has none is on each.
std::vector<KvPart> kv_parts(const Model& model, std::uint32_t layer, std::uint32_t tp = 1);

Bytes entry_bytes(const KvPart& part, const Format& format);
/// Entries kept of a sequence of `tokens`.
std::uint64_t entries_of(const KvPart& part, std::uint64_t tokens);
Bytes kv_bytes(const KvPart& part, std::uint64_t tokens, const Format& format);

/// All parts of one layer, of all layers.
Bytes kv_bytes_of_layer(const Model& model, std::uint32_t layer, std::uint64_t tokens,
                        const Format& format, std::uint32_t tp = 1);
Bytes kv_bytes(const Model& model, std::uint64_t tokens, const Format& format,
               std::uint32_t tp = 1);

/// What one more token adds in all layers where everything is kept token by token; where it is not
/// (windows, compression) it is the mean over the model's longest context, rounded.
Bytes kv_bytes_per_token(const Model& model, const Format& format, std::uint32_t tp = 1);

} // namespace umf::shapes
