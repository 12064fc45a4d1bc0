#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace umf::app {

/// Work for a process of its own. Its answer may be any bytes.
struct Job {
  std::string name; ///< for errors
  std::function<std::string()> run;
};

struct Outcome {
  std::string text;     ///< the answer, or why it was refused
  bool refused = false; ///< the job threw UserError
};

/// Runs each job in a child process, since SystemC elaborates once a process, as many at a time
/// as the machine has cores, or `at_most`; outcomes come in the order of the jobs. To be called
/// before this process has a platform of its own. Throws Interrupted when the user asked to stop,
/// and std::runtime_error where a job ended in any other way.
std::vector<Outcome> run_apart(const std::vector<Job>& jobs,
                               std::size_t at_most = std::numeric_limits<std::size_t>::max());

} // namespace umf::app
