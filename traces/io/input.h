#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace umf::traces::io {

/// The text of one file, decompressed as it is read, in bounded memory. Plain, gzip
/// (several members), zstd and xz are told apart by their first bytes, never by name.
/// Throws UserError with the place when the file cannot be read or its compression
/// is corrupt or cut short.
class Input {
public:
  static Input open(const std::filesystem::path& path);
  static Input from_memory(std::string name, std::string bytes);

  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  /// Up to `most` bytes; 0 only at the end.
  std::size_t read(char* to, std::size_t most);

  const std::string& name() const { return name_; }

  /// Offset of the next byte in the decompressed text.
  std::uint64_t position() const { return position_; }

  class Decoder;

private:
  Input(std::string name, std::unique_ptr<Decoder> decoder);

  std::string name_;
  std::unique_ptr<Decoder> decoder_;
  std::uint64_t position_ = 0;
};

} // namespace umf::traces::io
