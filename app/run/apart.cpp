#include "app/run/apart.h"

#include "app/run/trace_source.h"
#include "model/base/error.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace umf::app {

namespace {

/// What a child sends: one letter for how it ended, then the text.
enum class Sent : char { answer = 's', refusal = 'r', interrupted = 'i', broken = 'b' };

struct Child {
  pid_t pid = -1;
  int from = -1; ///< read end of its pipe
};

[[noreturn]] void cannot(const char* what) {
  throw std::runtime_error(std::string("a run in a process of its own: ") + what + ": " +
                           std::strerror(errno));
}

void send(int to, Sent how, const std::string& text) {
  const std::string all = static_cast<char>(how) + text;
  for (std::size_t at = 0; at < all.size();) {
    const auto wrote = write(to, all.data() + at, all.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return; // the parent is gone
    at += static_cast<std::size_t>(wrote);
  }
}

/// In the child: the whole of its life.
void live(const Job& job, int to) {
  try {
    send(to, Sent::answer, job.run());
  } catch (const UserError& error) {
    send(to, Sent::refusal, error.what());
  } catch (const Interrupted&) {
    send(to, Sent::interrupted, {});
  } catch (const std::exception& error) {
    send(to, Sent::broken, error.what());
  }
}

Child start(const Job& job) {
  int ends[2];
  if (pipe(ends) != 0) cannot("no pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) cannot("no process");
  if (pid == 0) {
    close(ends[0]);
    live(job, ends[1]);
    // No destructors: what this process inherited belongs to its parent.
    _exit(0);
  }
  close(ends[1]);
  return {pid, ends[0]};
}

std::string drain(const Child& child) {
  std::string text;
  char part[1 << 16];
  for (;;) {
    const auto got = read(child.from, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  close(child.from);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

Outcome outcome_of(const Job& job, const std::string& sent) {
  std::string text = sent.empty() ? "" : sent.substr(1);
  switch (sent.empty() ? Sent::broken : static_cast<Sent>(sent.front())) {
  case Sent::answer:
    return {std::move(text), false};
  case Sent::refusal:
    return {std::move(text), true};
  case Sent::interrupted:
    throw Interrupted{};
  case Sent::broken:
    break;
  }
  throw std::runtime_error("the run of " + job.name +
                           (text.empty() ? " ended without an answer" : ": " + text));
}

} // namespace

std::vector<Outcome> run_apart(const std::vector<Job>& jobs, std::size_t at_most) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t at_once = std::min(cores, at_most);
  std::vector<Child> children;
  std::vector<std::string> sent;
  // Children write more than a pipe holds only at their end, so waiting in order loses little.
  for (std::size_t done = 0; done < jobs.size(); ++done) {
    while (children.size() < jobs.size() && children.size() < done + at_once)
      children.push_back(start(jobs[children.size()]));
    sent.push_back(drain(children[done]));
  }
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    outcomes.push_back(outcome_of(jobs[i], sent[i]));
  return outcomes;
}

} // namespace umf::app
