#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace umf::test {

/// How a run of the built `umfsim` ended.
struct Ended {
  int status = 0; ///< exit status; 128 + signal when a signal ended it
  std::string out, err;
};

/// A run of the built `umfsim`, or of another program, in `folder`; stdin is empty.
class Child {
public:
  Child(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
        const std::string& program = UMFSIM_PROGRAM);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void send(int signal) const;
  /// What it has written to stderr until now.
  std::string err_so_far() const;
  Ended wait();

private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

/// Runs it to its end.
Ended umfsim(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

} // namespace umf::test
