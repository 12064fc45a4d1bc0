#include "model/shapes/model.h"

#include "tests/base/error_of.h"
#include "tests/support/shared_data.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace umf;
using namespace umf::shapes;
using Catch::Contains;

namespace {

const std::string kModel = R"({
  "model": { "name": "mine", "layers": 2, "hidden": 64, "vocabulary": 100, "max_context": 512 },
  "attention": { "kind": "full", "heads": 4, "kv_heads": 2, "head_dim": 32 },
  "ffn": { "dense": 128 }
})";

std::string with(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

Model read(const std::string& text) {
  KeyContext context;
  Model model = read_model(parse_json(text, "mine.json"), context);
  context.throw_if_faulty();
  return model;
}

} // namespace

TEST_CASE("every shipped model reads, has a source for each figure and is found by its name") {
  const auto names = shipped_model_names();
  CHECK(names.size() == 19);
  for (const EmbeddedModel& shipped : shipped_models()) {
    KeyContext context;
    const Model model = read_model(parse_json(shipped.text, std::string(shipped.name)), context);
    CAPTURE(shipped.name);
    CHECK_FALSE(context.faulty());
    CHECK(model.name == shipped.name);
    for (const KeyRecord& record : context.records())
      if (record.given) CHECK_FALSE(record.source.empty());
  }
}

TEST_CASE("the kind of attention is read, not guessed from heads") {
  CHECK(attention_kind(find_model("llama-3-8b")) == "full");
  CHECK(attention_kind(find_model("deepseek-v3")) == "mla");
  CHECK(attention_kind(find_model("deepseek-v4-pro")) == "compressed");
  // 64 heads of 128 numbers, and hidden is 5120.
  const Model qwen = find_model("qwen3-32b");
  CHECK(std::get<FullAttention>(qwen.attention).head_dim == 128);
  CHECK(query_heads(qwen) * 128 != qwen.hidden);
}

TEST_CASE("a model of the user's own reads from a file") {
  const Model model = find_model(test::source_file("tests/shapes/tiny.json").string());
  CHECK(model.name == "tiny");
  CHECK(attention_kind(model) == "sliding-window");
  CHECK(model.is_moe(1));
  CHECK_FALSE(model.is_moe(0));
}

TEST_CASE("faults of a model file have their place") {
  const auto fault = [](const std::string& text) { return test::error_of([&] { read(text); }); };
  CHECK_NOTHROW(read(kModel));
  CHECK_THAT(fault(with(kModel, "\"kv_heads\": 2", "\"kv_heads\": 3")),
             Contains("mine.json:3") && Contains("/attention/kv_heads: 3 KV heads"));
  CHECK_THAT(fault(with(kModel, "full", "ful")), Contains("did you mean \"full\""));
  CHECK_THAT(fault(with(kModel, "\"layers\": 2, ", "")), Contains("key \"layers\" is missing"));
  CHECK_THAT(fault(with(kModel, "head_dim", "headdim")), Contains("did you mean \"head_dim\""));
  CHECK_THAT(fault(with(kModel, "\"dense\": 128", "\"experts\": 4, \"top_k\": 5, \"expert\": 8")),
             Contains("/ffn/top_k: 5 of 4 experts"));
  CHECK_THAT(fault(with(kModel, "\"dense\": 128", "\"top_k\": 2, \"dense\": 128")),
             Contains("/ffn/experts"));
  CHECK_THAT(fault(with(kModel, "\"layers\": 2", "\"weights\": \"b16\", \"layers\": 2")),
             Contains("/model/weights") && Contains("b16"));
}

TEST_CASE("an unknown model is told from a misspelt one") {
  CHECK_THROWS_WITH(find_model("lama-3-8b"), Contains("did you mean \"llama-3-8b\""));
  CHECK_THROWS_AS(find_model("nowhere.json"), UserError);
}
