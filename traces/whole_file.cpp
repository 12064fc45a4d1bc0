#include "traces/whole_file.h"

#include "traces/places.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <system_error>

namespace umf::traces {

WholeFile::WholeFile(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_))
    throw UserError(place_of(name()), "is a folder, expected the name of a file to write");
  for (int attempt = 0; file_ == nullptr; ++attempt) {
    unfinished_ = fmt::format("{}.tmp{}", name(), attempt);
    file_ = std::fopen(unfinished_.c_str(), "wbx"); // x: never another writer's file
    if (file_ == nullptr && errno != EEXIST) fail("create");
  }
}

WholeFile::~WholeFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::error_code ignored;
  std::filesystem::remove(unfinished_, ignored);
}

void WholeFile::write(std::string_view bytes) {
  ensure(file_ != nullptr, "write after finish");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("write");
  position_ += bytes.size();
}

void WholeFile::finish() {
  ensure(file_ != nullptr, "finish called twice");
  if (std::fflush(file_) != 0) fail("write");
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) fail("rename");
  std::fclose(file_);
  file_ = nullptr;
}

void WholeFile::fail(std::string_view doing) const {
  throw UserError(place_of(name()),
                  fmt::format("cannot {} it: {}, expected a folder with room that "
                              "may be written",
                              doing, std::strerror(errno)));
}

void write_whole(const WholeFiles& files) {
  std::vector<std::unique_ptr<WholeFile>> written;
  for (const auto& [path, bytes] : files) {
    written.push_back(std::make_unique<WholeFile>(path));
    written.back()->write(bytes);
  }
  for (const auto& file : written)
    file->finish();
}

void write_whole(const std::filesystem::path& folder, const WholeFiles& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw UserError(place_of(folder.string()),
                    "cannot be made: " + error.message() + ", expected a folder");
  WholeFiles below;
  for (const auto& [name, bytes] : files)
    below.emplace_back(folder / name, bytes);
  write_whole(below);
}

} // namespace umf::traces
