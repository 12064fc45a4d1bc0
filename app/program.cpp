#include "app/program.h"

#include "app/report/printable.h"
#include "app/run/trace_source.h"
#include "app/verbs/verbs.h"
#include "app/version.h"
#include "model/base/error.h"
#include "model/base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
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

/// A misspelt verb, or nothing: CLI11 would only say that a subcommand is missing.
std::string unknown_verb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return {};
  return fmt::format("unknown verb \"{}\", expected one of {}{}", argv[1], fmt::join(names, ", "),
                     near_hint(argv[1], names));
}

int wrong_usage(const std::string& what) {
  std::fprintf(stderr, "umfsim: %s (see umfsim --help)\n", what.c_str());
  return static_cast<int>(Exit::user_error);
}

int run(int argc, char** argv) {
  CLI::App app{"umfsim: what a GPU kernel trace would do on a unified memory fabric", "umfsim"};
  app.set_version_flag("--version", std::string("umfsim ") + kVersion);
  app.require_subcommand(1);
  app.fallthrough(false);
  std::vector<std::pair<CLI::App*, Action>> verbs;
  for (const auto add : {add_replay, add_explain, add_inspect, add_convert, add_describe,
                         add_schema, add_check, add_tables, add_regress, add_validate, add_generate,
                         add_serve_sim, add_completion, add_man}) {
    Action action = add(app);
    verbs.emplace_back(app.get_subcommands([](const CLI::App*) { return true; }).back(),
                       std::move(action));
  }
  if (argc < 2) return wrong_usage("no verb given");
  if (const std::string fault = unknown_verb(app, argc, argv); !fault.empty())
    return wrong_usage(fault);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return wrong_usage(error.what());
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

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw UserError(fmt::format("stdout: cannot be written: {}", std::strerror(errno)));
}

void remember_command(int argc, char** argv) {
  for (int i = 0; i < argc; ++i)
    command += (i == 0 ? "" : " ") + std::string(argv[i]);
}

const std::string& command_line() {
  return command;
}

int run_program(int argc, char** argv) {
  remember_command(argc, argv);
  watch_signals();
  try {
    return run(argc, argv);
  } catch (const Interrupted&) {
    std::fprintf(stderr, "umfsim: interrupted; nothing was written\n");
    return static_cast<int>(Exit::interrupted);
  } catch (const UserError& error) {
    std::fprintf(stderr, "%s\n", printable(error.what()).c_str());
    return static_cast<int>(Exit::user_error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "umfsim: out of memory\n");
    return static_cast<int>(Exit::machine_lacks);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "umfsim: internal error: %s\n", error.what());
    return static_cast<int>(Exit::check_failed);
  }
}

} // namespace umf::app
