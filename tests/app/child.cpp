#include "tests/app/child.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace umf::test {

namespace {

/// A file without a name: unlike a pipe it takes any amount while nobody reads.
int anonymous_file() {
  std::string name = (std::filesystem::temp_directory_path() / "umfsim-out-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) throw std::runtime_error("no temporary file");
  unlink(name.c_str());
  return file;
}

std::string content(int file) {
  std::string text;
  char bytes[1 << 14];
  for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
    const ssize_t got = pread(file, bytes, sizeof bytes, at);
    if (got <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(got));
  }
}

} // namespace

Child::Child(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
             const std::string& program)
    : out_(anonymous_file()), err_(anonymous_file()) {
  std::vector<char*> argv = {const_cast<char*>("umfsim")};
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr); // or the child would write our buffers a second time
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no process");
  if (pid_ > 0) return;
  const int in = open("/dev/null", O_RDONLY);
  if (chdir(folder.c_str()) != 0 || dup2(in, 0) < 0 || dup2(out_, 1) < 0 || dup2(err_, 2) < 0)
    _exit(127);
  execv(program.c_str(), argv.data());
  _exit(127);
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait();
  }
  close(out_);
  close(err_);
}

void Child::send(int signal) const {
  kill(pid_, signal);
}

std::string Child::err_so_far() const {
  return content(err_);
}

Ended Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out_),
          content(err_)};
}

Ended umfsim(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  return Child(arguments, folder).wait();
}

} // namespace umf::test
