#include "traces/requests/mooncake.h"

#include "model/base/error.h"
#include "traces/places.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <limits>

namespace umf::traces::requests {

namespace json = simdjson::ondemand;

static_assert(jsonl::Lines::kPadding >= simdjson::SIMDJSON_PADDING);

namespace {

/// What is wrong with a line: where in it, and how.
struct LineFault {
  std::string pointer, message;
};

constexpr std::uint64_t kMostTokens = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kLatestMs = std::numeric_limits<std::int64_t>::max() / 1'000'000;

std::uint32_t tokens(json::value value, const char* pointer) {
  std::uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number > kMostTokens)
    throw LineFault{pointer, "no number of tokens, expected a whole number below 2^32"};
  return static_cast<std::uint32_t>(number);
}

/// Milliseconds, whole or not, as nanoseconds.
std::int64_t arrival(json::value value) {
  double ms = 0;
  if (value.get_double().get(ms) != simdjson::SUCCESS || !(ms >= 0) ||
      ms > static_cast<double>(kLatestMs))
    throw LineFault{"/timestamp", "no time, expected milliseconds from 0 on"};
  const auto whole = static_cast<std::int64_t>(ms);
  return whole * 1'000'000 + static_cast<std::int64_t>((ms - static_cast<double>(whole)) * 1e6);
}

void blocks(json::value value, std::vector<std::uint64_t>& ids) {
  json::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS)
    throw LineFault{"/hash_ids", "no list, expected the numbers of blocks"};
  for (auto element : list) {
    std::uint64_t id = 0;
    if (element.get_uint64().get(id) != simdjson::SUCCESS)
      throw LineFault{fmt::format("/hash_ids/{}", ids.size()),
                      "no block number, expected a whole number of 64 bits"};
    ids.push_back(id);
  }
}

} // namespace

struct MooncakeReader::Parser {
  json::parser parser;

  stream::Request parse(std::string_view line) {
    json::document document;
    json::object object;
    const simdjson::padded_string_view padded(line, line.size() + jsonl::Lines::kPadding);
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS)
      throw LineFault{"", "no JSON object, expected a request a line"};
    stream::Request request;
    bool timed = false, prompt = false, output = false;
    for (auto field : object) {
      std::string_view name;
      json::value value;
      if (field.unescaped_key().get(name) != simdjson::SUCCESS ||
          field.value().get(value) != simdjson::SUCCESS)
        throw LineFault{"", "broken JSON, expected a request a line"};
      if (name == "timestamp") {
        request.arrival_ns = arrival(value);
        timed = true;
      } else if (name == "input_length") {
        request.prompt_tokens = tokens(value, "/input_length");
        prompt = true;
      } else if (name == "output_length") {
        request.output_tokens = tokens(value, "/output_length");
        output = true;
      } else if (name == "hash_ids") {
        blocks(value, request.prefix_blocks);
      }
    }
    if (!timed || !prompt || !output)
      throw LineFault{"", fmt::format("no \"{}\", expected timestamp, input_length and "
                                      "output_length",
                                      !timed    ? "timestamp"
                                      : !prompt ? "input_length"
                                                : "output_length")};
    return request;
  }
};

bool looks_like_mooncake(std::string_view first_bytes) {
  const std::string_view line = first_bytes.substr(0, first_bytes.find('\n'));
  const auto start = line.find_first_not_of(" \t\r");
  return start != std::string_view::npos && line[start] == '{' &&
         line.find("\"input_length\"") != std::string_view::npos &&
         line.find("\"output_length\"") != std::string_view::npos;
}

MooncakeReader::MooncakeReader(const std::filesystem::path& path)
    : MooncakeReader(io::Input::open(path)) {}

MooncakeReader::MooncakeReader(io::Input input)
    : lines_(std::move(input)), parser_(std::make_unique<Parser>()), checks_(lines_.name()) {
  header_.format = "mooncake";
  header_.source = std::filesystem::path(lines_.name()).filename().string();
}

MooncakeReader::~MooncakeReader() = default;

bool MooncakeReader::next(stream::Record& record) {
  std::string_view line;
  do {
    if (!lines_.next(line)) return checks_.next(record);
  } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
  try {
    stream::Request request = parser_->parse(line);
    const bool shares = !request.prefix_blocks.empty();
    checks_.pass(request, static_cast<std::uint64_t>(lines_.number()), shares ? kMooncakeBlock : 0);
    record = std::move(request);
  } catch (const LineFault& fault) {
    Place place = place_of(lines_.name());
    place.line = lines_.number();
    place.pointer = fault.pointer;
    throw UserError(place, fault.message);
  }
  return true;
}

} // namespace umf::traces::requests
