#include "app/verbs/verbs.h"

#include "app/run/replay_run.h"
#include "app/version.h"
#include "model/base/error.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

// SystemC's library refers to this symbol; starting through our own main drops its banner.
extern "C" int sc_main(int, char**) {
  return 0;
}

namespace umf::app {

namespace {

volatile std::sig_atomic_t asked = 0;
std::string command;

void on_signal(int) {
  asked = 1;
}

int run(int argc, char** argv) {
  CLI::App app{"umfsim: what a GPU kernel trace would do on a unified memory fabric"};
  app.set_version_flag("--version", std::string("umfsim ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough(false);
  std::vector<std::pair<CLI::App*, Action>> verbs;
  for (const auto add :
       {add_replay, add_inspect, add_convert, add_describe, add_schema, add_check}) {
    Action action = add(app);
    verbs.emplace_back(app.get_subcommands([](const CLI::App*) { return true; }).back(),
                       std::move(action));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "umfsim: %s (see umfsim --help)\n", error.what());
    return static_cast<int>(Exit::user_error);
  }
  for (const auto& [verb, action] : verbs)
    if (verb->parsed()) return static_cast<int>(action());
  return static_cast<int>(Exit::user_error);
}

} // namespace

bool stop_asked() {
  return asked != 0;
}

void watch_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

void remember_command(int argc, char** argv) {
  for (int i = 0; i < argc; ++i)
    command += (i == 0 ? "" : " ") + std::string(argv[i]);
}

const std::string& command_line() {
  return command;
}

} // namespace umf::app

int main(int argc, char** argv) {
  using umf::app::Exit;
  umf::app::remember_command(argc, argv);
  umf::app::watch_signals();
  try {
    return umf::app::run(argc, argv);
  } catch (const umf::app::Interrupted&) {
    std::fprintf(stderr, "umfsim: interrupted; nothing was written\n");
    return static_cast<int>(Exit::interrupted);
  } catch (const umf::UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(Exit::user_error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "umfsim: out of memory\n");
    return static_cast<int>(Exit::machine_lacks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "umfsim: internal error: %s\n", error.what());
    return static_cast<int>(Exit::check_failed);
  }
}
