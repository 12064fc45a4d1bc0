#include "traces/registry.h"

#include "traces/address/forms.h"
#include "traces/io/input.h"
#include "traces/jsonl/reader.h"
#include "traces/jsonl/writer.h"
#include "traces/kineto/reader.h"
#include "traces/places.h"
#include "traces/requests/azure.h"
#include "traces/requests/mooncake.h"
#include "traces/umft/reader.h"
#include "traces/umft/writer.h"

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace umf::traces {

namespace {

using Path = std::filesystem::path;

template <class Reader>
std::unique_ptr<stream::Source> open_with(const Path& path) {
  return std::make_unique<Reader>(path);
}

template <class Writer>
std::unique_ptr<stream::Sink> create_with(const Path& path, const stream::Header& header) {
  return std::make_unique<Writer>(path, header);
}

/// Told apart only to say what to do with it.
std::unique_ptr<stream::Source> no_kernels(const Path& path) {
  throw UserError(place_of(path.string()),
                  "an address trace, which has no kernels and is replayed with --resolution line, "
                  "expected a trace of kernels");
}

struct Format {
  std::string_view name;
  bool (*looks_like)(std::string_view first_bytes);
  std::unique_ptr<stream::Source> (*open)(const Path&);
  std::string_view extension; ///< empty when it is only read
  std::unique_ptr<stream::Sink> (*create)(const Path&, const stream::Header&);
};

/// Asked in this order: strict ones first.
constexpr Format kFormats[] = {
    {"umft", umft::looks_like_umft, open_with<umft::Reader>, ".umft", create_with<umft::Writer>},
    {"umfsim JSON lines", jsonl::looks_like_jsonl, open_with<jsonl::Reader>, ".jsonl",
     create_with<jsonl::Writer>},
    {"mooncake", requests::looks_like_mooncake, open_with<requests::MooncakeReader>, "", nullptr},
    {"azure", requests::looks_like_azure, open_with<requests::AzureReader>, "", nullptr},
    {"kineto", kineto::looks_like_kineto, kineto::open_kineto, "", nullptr},
    {"address", address::looks_like_address, no_kernels, "", nullptr},
};

/// The decompressed start of a file, enough to tell every format.
std::string first_bytes(const Path& path) {
  constexpr std::size_t kEnough = 64 << 10;
  std::string bytes(kEnough, '\0');
  io::Input input = io::Input::open(path);
  std::size_t held = 0;
  while (held < kEnough) {
    const std::size_t got = input.read(bytes.data() + held, kEnough - held);
    if (got == 0) break;
    held += got;
  }
  bytes.resize(held);
  return bytes;
}

} // namespace

bool is_address_trace(const Path& path) {
  const std::string start = first_bytes(path);
  for (const auto& format : kFormats)
    if (format.looks_like(start)) return format.open == no_kernels;
  return false;
}

std::unique_ptr<stream::Source> open_trace(const Path& path) {
  const std::string start = first_bytes(path);
  std::string known;
  for (const auto& format : kFormats) {
    if (format.looks_like(start)) return format.open(path);
    known += (known.empty() ? "" : ", ") + std::string(format.name);
  }
  throw UserError(place_of(path.string()),
                  fmt::format("{}, expected one of: {}",
                              start.empty() ? "an empty file" : "an unknown trace format", known));
}

std::unique_ptr<stream::Source> open_trace(const Path& path, const Path& shapes_from) {
  if (shapes_from.empty()) return open_trace(path);
  for (const auto& one : {path, shapes_from})
    if (!kineto::looks_like_kineto(first_bytes(one)))
      throw UserError(place_of(one.string()),
                      "no trace of the PyTorch profiler, expected one: shapes pass from one "
                      "Kineto trace to another");
  return kineto::open_kineto(path, shapes_from);
}

std::unique_ptr<stream::Sink> create_trace(const Path& path, const stream::Header& header) {
  const std::string extension = path.extension().string();
  std::string known;
  for (const auto& format : kFormats) {
    if (format.create == nullptr) continue;
    if (extension == format.extension) return format.create(path, header);
    known += (known.empty() ? "" : ", ") + std::string(format.extension);
  }
  throw UserError(place_of(path.string()),
                  fmt::format("a name that ends in \"{}\", expected one of: {}", extension, known));
}

} // namespace umf::traces
