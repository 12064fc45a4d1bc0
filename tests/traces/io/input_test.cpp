#include "traces/io/input.h"

#include "model/base/error.h"

#include <catch2/catch.hpp>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace umf;
using traces::io::Input;

namespace {

/// Longer than any buffer, and not periodic in it.
std::string sample() {
  std::string text;
  for (int i = 0; i < 200000; ++i)
    text += std::to_string(i) + "\n";
  return text;
}

std::string gzip(const std::string& text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(text.size() + 1024, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  REQUIRE(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                  reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                  reinterpret_cast<std::uint8_t*>(out.data()), &size,
                                  out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

std::string all_of(Input input, std::size_t step = 4099) {
  std::string text;
  std::string chunk(step, '\0');
  while (const auto got = input.read(chunk.data(), chunk.size())) {
    text.append(chunk, 0, got);
    REQUIRE(input.position() == text.size());
  }
  return text;
}

} // namespace

TEST_CASE("every compression gives the same text") {
  const auto text = sample();
  for (const auto& bytes : {text, gzip(text), zstd(text), xz(text)})
    CHECK(all_of(Input::from_memory("sample", bytes)) == text);
}

TEST_CASE("members and frames are read one after the other") {
  const auto text = sample();
  CHECK(all_of(Input::from_memory("two", gzip(text) + gzip("end"))) == text + "end");
  CHECK(all_of(Input::from_memory("two", zstd(text) + zstd("end"))) == text + "end");
  CHECK(all_of(Input::from_memory("two", xz(text) + xz("end"))) == text + "end");
  CHECK(all_of(Input::from_memory("padded", gzip("a") + std::string(512, '\0'))) == "a");
}

TEST_CASE("an empty text is an empty text") {
  for (const auto& bytes : {std::string(), gzip(""), zstd(""), xz("")})
    CHECK(all_of(Input::from_memory("sample", bytes)).empty());
}

TEST_CASE("compression cut short or damaged is refused with the place") {
  const auto text = sample();
  for (const auto& whole : {gzip(text), zstd(text), xz(text)}) {
    for (const auto length : {whole.size() - 1, whole.size() / 2, std::size_t{7}}) {
      const auto part = whole.substr(0, length);
      CHECK_THROWS_AS(all_of(Input::from_memory("sample", part)), UserError);
    }
    auto damaged = whole;
    for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 40; ++i)
      damaged[i] = static_cast<char>(~damaged[i]);
    CHECK_THROWS_AS(all_of(Input::from_memory("sample", damaged)), UserError);
  }
}

TEST_CASE("files are told apart by content, not by name") {
  const auto folder = std::filesystem::temp_directory_path();
  const auto path = folder / ("umf_input_" + std::to_string(getpid()) + ".json");
  const auto text = sample();
  for (const auto& bytes : {text, gzip(text)}) {
    std::ofstream(path, std::ios::binary) << bytes;
    CHECK(all_of(Input::open(path), 1 << 20) == text);
  }
  std::filesystem::remove(path);
  CHECK_THROWS_AS(Input::open(path), UserError);
  CHECK_THROWS_AS(all_of(Input::open(folder)), UserError);
}
