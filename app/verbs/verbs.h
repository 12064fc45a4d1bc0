#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace umf::app {

/// Exit statuses of the command-line contract.
enum class Exit : int {
  ok = 0,
  check_failed = 1,
  user_error = 2,
  machine_lacks = 3,
  interrupted = 130
};

/// A verb adds its subcommand and returns what to run when it is chosen.
using Action = std::function<Exit()>;
Action add_replay(CLI::App& app);
Action add_explain(CLI::App& app);
Action add_inspect(CLI::App& app);
Action add_convert(CLI::App& app);
Action add_describe(CLI::App& app);
Action add_schema(CLI::App& app);
Action add_check(CLI::App& app);
Action add_tables(CLI::App& app);
Action add_regress(CLI::App& app);
Action add_validate(CLI::App& app);
Action add_generate(CLI::App& app);
Action add_serve_sim(CLI::App& app);
Action add_completion(CLI::App& app);
Action add_man(CLI::App& app);

/// Help of --shapes-from, which several verbs take.
inline constexpr const char* kShapesFrom =
    "Kineto trace of the graph's capture, or of an eager run: kernels here without operator do "
    "what those of equal name, grid and block do there";

/// To stdout, all of it; throws UserError where that fails, as on a full disk.
void print(std::string_view text);

/// The whole command line as typed, for run.json.
void remember_command(int argc, char** argv);
const std::string& command_line();

/// True once the user asked to stop (SIGINT, SIGTERM).
bool stop_asked();
void watch_signals();

} // namespace umf::app
