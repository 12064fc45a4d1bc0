#include "traces/io/spill.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace umf::traces::io {

namespace {

constexpr std::size_t kWindow = 1 << 18;

[[noreturn]] void refuse(const char* what) {
  throw std::runtime_error(std::string("temporary file: ") + what + ": " + std::strerror(errno));
}

int unlinked_file() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") + "/umfsim-spill-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) refuse("cannot be created");
  unlink(path.c_str());
  return descriptor;
}

template <class Value>
void put(std::string& to, const Value& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
Value get(const char* from) {
  Value value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

SpillFile::SpillFile(SpillFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(std::exchange(other.size_, 0)) {}

SpillFile& SpillFile::operator=(SpillFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SpillFile::append(std::string_view bytes) {
  if (descriptor_ < 0) descriptor_ = unlinked_file();
  while (!bytes.empty()) {
    const auto wrote = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) refuse("cannot be written");
    size_ += static_cast<std::uint64_t>(wrote);
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::size_t SpillFile::read(std::uint64_t offset, char* to, std::size_t most) const {
  if (offset >= size_) return 0;
  for (;;) {
    const auto got = pread(descriptor_, to, most, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("cannot be read");
    return static_cast<std::size_t>(got);
  }
}

void RecordLog::append(std::string_view record) {
  put(tail_, static_cast<std::uint32_t>(record.size()));
  tail_ += record;
  if (tail_.size() < memory_.count) return;
  file_.append(tail_);
  tail_.clear();
}

void RecordLog::rewind() {
  window_.clear();
  window_at_ = 0;
  file_at_ = 0;
  tail_at_ = 0;
}

bool RecordLog::have(std::size_t least) {
  if (window_.size() - window_at_ >= least) return true;
  window_.erase(0, window_at_);
  window_at_ = 0;
  while (window_.size() < least) {
    const auto kept = window_.size();
    const auto left = file_.size() - file_at_;
    if (left == 0) return false;
    window_.resize(kept + std::min<std::uint64_t>(std::max(kWindow, least), left));
    const auto got = file_.read(file_at_, window_.data() + kept, window_.size() - kept);
    window_.resize(kept + got);
    file_at_ += got;
    if (got == 0) return false;
  }
  return true;
}

bool RecordLog::next(std::string_view& record) {
  constexpr auto head = sizeof(std::uint32_t);
  if (have(head)) {
    const auto length = get<std::uint32_t>(window_.data() + window_at_);
    have(head + length);
    record = std::string_view(window_).substr(window_at_ + head, length);
    window_at_ += head + length;
    return true;
  }
  if (tail_at_ == tail_.size()) return false;
  const auto length = get<std::uint32_t>(tail_.data() + tail_at_);
  record = std::string_view(tail_).substr(tail_at_ + head, length);
  tail_at_ += head + length;
  return true;
}

} // namespace umf::traces::io
