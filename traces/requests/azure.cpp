#include "traces/requests/azure.h"

#include "model/base/error.h"
#include "model/base/json.h"
#include "traces/places.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace umf::traces::requests {

namespace {

constexpr std::string_view kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && !text.empty();
}

/// "2023-11-16 18:15:46.6805900" as nanoseconds since 1970; digits of a second may be fewer.
std::optional<std::int64_t> time_of(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  if (text.size() < kForm.size()) return {};
  for (std::size_t i = 0; i < kForm.size(); ++i)
    if (kForm[i] != '0' && text[i] != kForm[i]) return {};
  const auto part = [&](std::size_t at, std::size_t length) {
    unsigned number = 0;
    return read(text.substr(at, length), number) ? number : 1'000'000U;
  };
  using namespace std::chrono;
  const year_month_day date{year{static_cast<int>(part(0, 4))}, month{part(5, 2)}, day{part(8, 2)}};
  const unsigned hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return {};
  std::int64_t fraction = 0;
  const std::string_view rest = text.substr(kForm.size());
  if (!rest.empty()) {
    const std::string_view digits = rest.substr(1);
    if (rest[0] != '.' || digits.size() > 9 || !read(digits, fraction) || fraction < 0) return {};
    for (std::size_t i = digits.size(); i < 9; ++i)
      fraction *= 10;
  }
  const auto days_since = sys_days{date}.time_since_epoch().count();
  return ((days_since * 24LL + hour) * 60 + minute) * 60'000'000'000LL + second * 1'000'000'000LL +
         fraction;
}

std::string_view without_return(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

} // namespace

bool looks_like_azure(std::string_view first_bytes) {
  return without_return(first_bytes.substr(0, first_bytes.find('\n'))) == kHeader;
}

AzureReader::AzureReader(const std::filesystem::path& path) : AzureReader(io::Input::open(path)) {}

AzureReader::AzureReader(io::Input input) : lines_(std::move(input)), checks_(lines_.name()) {
  header_.format = "azure";
  header_.source = std::filesystem::path(lines_.name()).filename().string();
  std::string_view line;
  if (!lines_.next(line) || without_return(line) != kHeader)
    fail(fmt::format("no header, expected {}", in_quotes(std::string(kHeader))));
}

void AzureReader::fail(const std::string& message) const {
  Place place = place_of(lines_.name());
  place.line = lines_.number();
  throw UserError(place, message);
}

stream::Request AzureReader::parse(std::string_view line) {
  std::array<std::string_view, 3> cells;
  std::string_view rest = line;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const std::size_t comma = rest.find(',');
    const bool last = cell + 1 == cells.size();
    if (last != (comma == std::string_view::npos))
      fail(fmt::format("{} than three cells, expected a time and two counts",
                       last ? "more" : "fewer"));
    cells[cell] = rest.substr(0, comma);
    if (!last) rest.remove_prefix(comma + 1);
  }
  const auto when = time_of(cells[0]);
  if (!when)
    fail(fmt::format("{} is no time, expected one like \"2023-11-16 18:15:46.6805900\"",
                     in_quotes(std::string(cells[0]))));
  if (!first_ns_) first_ns_ = when;
  stream::Request request;
  request.arrival_ns = *when - *first_ns_;
  if (!read(cells[1], request.prompt_tokens) || !read(cells[2], request.output_tokens))
    fail("no number of tokens, expected whole numbers below 2^32");
  return request;
}

bool AzureReader::next(stream::Record& record) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return checks_.next(record);
    line = without_return(line);
  } while (line.empty());
  stream::Request request = parse(line);
  checks_.pass(request, static_cast<std::uint64_t>(lines_.number()));
  record = std::move(request);
  return true;
}

} // namespace umf::traces::requests
