#pragma once

#include "model/stream/records.h"
#include "traces/jsonl/lines.h"
#include "traces/requests/request_checks.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace umf::traces::requests {

/// Tokens of a block that Mooncake's `hash_ids` name.
inline constexpr std::uint32_t kMooncakeBlock = 512;

/// Whether a text that begins so is a line of a Mooncake trace.
bool looks_like_mooncake(std::string_view first_bytes);

/// Mooncake's request traces, a JSON object a line, compressed or not. Throws UserError
/// "file:line: /pointer: what, expected what".
class MooncakeReader : public stream::Source {
public:
  explicit MooncakeReader(const std::filesystem::path&);
  explicit MooncakeReader(io::Input);
  ~MooncakeReader() override;

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

private:
  struct Parser;

  jsonl::Lines lines_;
  std::unique_ptr<Parser> parser_;
  RequestChecks checks_;
  stream::Header header_;
};

} // namespace umf::traces::requests
