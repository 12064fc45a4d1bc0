#include "traces/requests/request_checks.h"

#include <fmt/format.h>

#include <utility>

namespace umf::traces::requests {

void RequestChecks::note(const char* code, const char* sentence, std::uint64_t line) {
  stream::Oddity& oddity = odd_[code];
  if (oddity.count++ > 0) return;
  oddity.code = code;
  oddity.sentence = sentence;
  oddity.first_place = fmt::format("{}:{}", file_, line);
}

void RequestChecks::pass(stream::Request& request, std::uint64_t line, std::uint32_t block_tokens) {
  request.id = requests_++;
  if (request.arrival_ns < latest_ns_) {
    note("arrival-goes-back",
         "a request arrived before the one before it and was taken to arrive with it", line);
    request.arrival_ns = latest_ns_;
  }
  latest_ns_ = request.arrival_ns;
  if (request.prompt_tokens == 0) {
    note("empty-prompt", "a request has no prompt and was given one token", line);
    request.prompt_tokens = 1;
  }
  if (request.output_tokens == 0) {
    note("no-output", "a request asks for no output and was taken to ask for one token", line);
    request.output_tokens = 1;
  }
  if (block_tokens == 0) return;
  const std::size_t blocks = (request.prompt_tokens + block_tokens - 1) / block_tokens;
  if (request.prefix_blocks.size() == blocks) return;
  note("blocks-do-not-fit",
       "a request names more or fewer prefix blocks than its prompt has; those beyond were left "
       "out",
       line);
  if (request.prefix_blocks.size() > blocks) request.prefix_blocks.resize(blocks);
}

bool RequestChecks::next(stream::Record& record) {
  if (odd_.empty()) return false;
  record = std::move(odd_.begin()->second);
  odd_.erase(odd_.begin());
  return true;
}

} // namespace umf::traces::requests
