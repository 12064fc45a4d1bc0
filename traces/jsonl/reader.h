#pragma once

#include "model/stream/records.h"
#include "traces/jsonl/lines.h"

#include <filesystem>
#include <memory>
#include <string_view>

namespace umf::traces::jsonl {

/// Whether a text that begins so has this format's header as its first line.
bool looks_like_jsonl(std::string_view first_bytes);

/// Reads a trace from JSON lines (README.md), compressed or not, one line in memory.
/// Throws UserError "file:line: /pointer: what, expected what".
class Reader : public stream::Source {
public:
  explicit Reader(const std::filesystem::path&);
  explicit Reader(io::Input);
  ~Reader() override;

  const stream::Header& header() const override { return header_; }
  bool next(stream::Record&) override;

private:
  struct Parser;
  bool next_line(std::string_view& line);
  template <class Parse>
  void at_line(Parse);

  Lines lines_;
  std::unique_ptr<Parser> parser_;
  stream::Header header_;
};

} // namespace umf::traces::jsonl
