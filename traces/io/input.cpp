#include "traces/io/input.h"

#include "model/base/error.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace umf::traces::io {

namespace {

constexpr std::size_t kChunk = 1 << 18;
constexpr std::uint64_t kLargestXzDictionary = std::uint64_t{1} << 30;

/// A fault of the compressed bytes; Input adds the place.
struct Corrupt {
  const char* what;
};

/// Raw bytes in chunks, from a file or from memory.
class Chunks {
public:
  explicit Chunks(std::FILE* file) : file_(file), bytes_(kChunk, '\0') {}
  explicit Chunks(std::string bytes) : bytes_(std::move(bytes)), end_(bytes_.size()) {}

  std::string_view rest() const { return std::string_view(bytes_).substr(begin_, end_ - begin_); }
  void take(std::size_t count) { begin_ += count; }

  /// Makes at least `least` bytes available unless the file ends before.
  void fill(std::size_t least = 1) {
    while (file_ && end_ - begin_ < least) {
      std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
      end_ -= begin_;
      begin_ = 0;
      const auto got = std::fread(bytes_.data() + end_, 1, bytes_.size() - end_, file_.get());
      if (got == 0) {
        if (std::ferror(file_.get())) throw Corrupt{"cannot be read, expected a regular file"};
        file_.reset();
      }
      end_ += got;
    }
  }

private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

} // namespace

class Input::Decoder {
public:
  explicit Decoder(Chunks chunks) : chunks_(std::move(chunks)) {}
  virtual ~Decoder() = default;
  virtual std::size_t read(char* to, std::size_t most) = 0;

protected:
  Chunks chunks_;
};

namespace {

class Plain final : public Input::Decoder {
public:
  using Decoder::Decoder;
  std::size_t read(char* to, std::size_t most) override {
    chunks_.fill();
    const auto have = chunks_.rest().substr(0, most);
    std::copy(have.begin(), have.end(), to);
    chunks_.take(have.size());
    return have.size();
  }
};

class Gzip final : public Input::Decoder {
public:
  explicit Gzip(Chunks chunks) : Decoder(std::move(chunks)) {
    if (inflateInit2(&state_, 15 + 16) != Z_OK) throw Corrupt{"gzip decoder cannot start"};
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { inflateEnd(&state_); }

  std::size_t read(char* to, std::size_t most) override {
    most = std::min<std::size_t>(most, 1u << 30);
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(most);
    while (state_.avail_out == most && !done_)
      inflate_some();
    return most - state_.avail_out;
  }

private:
  void inflate_some() {
    chunks_.fill();
    const auto rest = chunks_.rest();
    if (rest.empty()) throw Corrupt{"gzip data ends early, expected the rest of its member"};
    const auto offered = std::min<std::size_t>(rest.size(), 1u << 30);
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    state_.avail_in = static_cast<uInt>(offered);
    const int status = inflate(&state_, Z_NO_FLUSH);
    chunks_.take(offered - state_.avail_in);
    if (status == Z_STREAM_END)
      next_member();
    else if (status != Z_OK && status != Z_BUF_ERROR)
      throw Corrupt{"gzip data is corrupt, expected a valid deflate stream and checksum"};
  }

  /// Another member may follow, or zeros that pad the last block of a tape or disk.
  void next_member() {
    chunks_.fill();
    while (!chunks_.rest().empty() && chunks_.rest().front() == '\0') {
      chunks_.take(1);
      chunks_.fill();
    }
    if (chunks_.rest().empty())
      done_ = true;
    else if (inflateReset(&state_) != Z_OK)
      throw Corrupt{"gzip decoder cannot restart"};
  }

  z_stream state_{};
  bool done_ = false;
};

class Zstd final : public Input::Decoder {
public:
  explicit Zstd(Chunks chunks) : Decoder(std::move(chunks)), state_(ZSTD_createDStream()) {
    if (!state_) throw Corrupt{"zstd decoder cannot start"};
  }

  std::size_t read(char* to, std::size_t most) override {
    ZSTD_outBuffer out{to, most, 0};
    while (out.pos == 0) {
      chunks_.fill();
      const auto rest = chunks_.rest();
      if (rest.empty() && frame_done_) return 0;
      ZSTD_inBuffer in{rest.data(), rest.size(), 0};
      const auto status = ZSTD_decompressStream(state_.get(), &out, &in);
      if (ZSTD_isError(status)) throw Corrupt{"zstd data is corrupt, expected a valid frame"};
      if (rest.empty() && out.pos == 0)
        throw Corrupt{"zstd data ends early, expected the rest of its frame"};
      chunks_.take(in.pos);
      frame_done_ = status == 0;
    }
    return out.pos;
  }

private:
  struct Free {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };
  std::unique_ptr<ZSTD_DStream, Free> state_;
  bool frame_done_ = false;
};

class Xz final : public Input::Decoder {
public:
  explicit Xz(Chunks chunks) : Decoder(std::move(chunks)) {
    if (lzma_stream_decoder(&state_, kLargestXzDictionary, LZMA_CONCATENATED) != LZMA_OK)
      throw Corrupt{"xz decoder cannot start"};
  }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;
  ~Xz() override { lzma_end(&state_); }

  std::size_t read(char* to, std::size_t most) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(to);
    state_.avail_out = most;
    while (state_.avail_out == most && !done_) {
      chunks_.fill();
      const auto rest = chunks_.rest();
      state_.next_in = reinterpret_cast<const std::uint8_t*>(rest.data());
      state_.avail_in = rest.size();
      const auto status = lzma_code(&state_, rest.empty() ? LZMA_FINISH : LZMA_RUN);
      chunks_.take(rest.size() - state_.avail_in);
      if (status == LZMA_STREAM_END)
        done_ = true;
      else if (status == LZMA_BUF_ERROR)
        throw Corrupt{"xz data ends early, expected the rest of its stream"};
      else if (status != LZMA_OK)
        throw Corrupt{"xz data is corrupt, expected a valid stream"};
    }
    return most - state_.avail_out;
  }

private:
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::unique_ptr<Input::Decoder> decoder_for(Chunks chunks) {
  chunks.fill(6);
  const auto first = chunks.rest();
  if (starts_with(first, "\x1f\x8b")) return std::make_unique<Gzip>(std::move(chunks));
  if (starts_with(first, "\x28\xb5\x2f\xfd")) return std::make_unique<Zstd>(std::move(chunks));
  if (starts_with(first, std::string_view("\xfd"
                                          "7zXZ\0",
                                          6)))
    return std::make_unique<Xz>(std::move(chunks));
  return std::make_unique<Plain>(std::move(chunks));
}

Place at(const std::string& file, std::uint64_t byte) {
  Place place;
  place.file = file;
  place.byte = byte;
  return place;
}

} // namespace

Input::Input(std::string name, std::unique_ptr<Decoder> decoder)
    : name_(std::move(name)), decoder_(std::move(decoder)) {}
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

Input Input::open(const std::filesystem::path& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) {
    Place place;
    place.file = path.string();
    throw UserError(place, std::string("cannot be opened (") + std::strerror(errno) +
                               "), expected a readable file");
  }
  std::setvbuf(file, nullptr, _IONBF, 0);
  try {
    return Input(path.string(), decoder_for(Chunks(file)));
  } catch (const Corrupt& fault) {
    throw UserError(at(path.string(), 0), fault.what);
  }
}

Input Input::from_memory(std::string name, std::string bytes) {
  return Input(std::move(name), decoder_for(Chunks(std::move(bytes))));
}

std::size_t Input::read(char* to, std::size_t most) {
  if (most == 0) return 0;
  try {
    const auto got = decoder_->read(to, most);
    position_ += got;
    return got;
  } catch (const Corrupt& fault) {
    throw UserError(at(name_, position_), fault.what);
  }
}

} // namespace umf::traces::io
