#pragma once

#include "model/stream/records.h"
#include "traces/jsonl/lines.h"
#include "traces/requests/request_checks.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace umf::traces::requests {

/// Whether a text that begins so has the header of Azure's LLM inference traces.
bool looks_like_azure(std::string_view first_bytes);

/// Azure's request traces (CSV, "\n" or "\r\n"), compressed or not. Arrivals count from the first
/// request's, in the hundreds of nanoseconds they are written in. Throws UserError
/// "file:line: what, expected what".
class AzureReader : public stream::Source {
public:
  explicit AzureReader(const std::filesystem::path&);
  explicit AzureReader(io::Input);

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

private:
  [[noreturn]] void fail(const std::string& message) const;
  stream::Request parse(std::string_view line);

  jsonl::Lines lines_;
  RequestChecks checks_;
  stream::Header header_;
  std::optional<std::int64_t> first_ns_;
};

} // namespace umf::traces::requests
