#pragma once

#include "tests/traces/kineto/sample.h"

#include <string>

namespace umf::test {

/// Operators and kernels one after the other, each launched inside its operator.
class Program {
public:
  Program& launch(const std::string& op, const std::string& args, const std::string& kernel_name,
                  int blocks = 0) {
    const auto id = std::to_string(next_);
    const auto at = [&](int offset) { return std::to_string(next_ * 10 + offset); };
    add(event("cpu_op", op, at(0), "9", "\"External id\":" + id + "," + args, thread_));
    add(event("cuda_runtime", "cudaLaunchKernel", at(1), "1", "\"correlation\":" + id, thread_));
    add(device(id, at(5), kernel_name, blocks));
    ++next_;
    return *this;
  }
  Program& bare(const std::string& kernel_name, int blocks) {
    add(device("0", std::to_string(next_++ * 10 + 5), kernel_name, blocks));
    return *this;
  }
  Program& step() {
    add(event("user_annotation", "ProfilerStep#1", std::to_string(next_++ * 10), "1", ""));
    return *this;
  }
  /// What follows runs on another thread, as autograd does.
  Program& thread(int number) {
    thread_ = R"("pid":1,"tid":)" + std::to_string(number);
    return *this;
  }
  std::string text() const { return document(events_); }
  Drained records() const { return read(text()).records; }

private:
  static std::string device(const std::string& correlation, const std::string& start,
                            const std::string& name, int blocks) {
    const auto grid =
        blocks == 0 ? "" : R"(,"block":[128,1,1],"grid":[)" + std::to_string(blocks) + ",1,1]";
    return kernel(name, start, "1", "\"correlation\":" + correlation + grid);
  }
  void add(const std::string& text) { events_ += (events_.empty() ? "" : ",") + text; }

  int next_ = 1;
  std::string thread_ = R"("pid":1,"tid":2)";
  std::string events_;
};

inline std::string inputs(const std::string& dims, const std::string& types,
                          const std::string& more = "") {
  return R"("Input Dims":)" + dims + R"(,"Input type":)" + types + more;
}

} // namespace umf::test
