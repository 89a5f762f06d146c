#pragma once

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace blockspan::test {

/// What a finished program left behind.
struct Outcome {
  int status = -1;  ///< exit status, or minus the signal that ended it
  std::string out;
  std::string err;
};

/// The executable of an app: in the folder BLOCKSPAN_APPS_DIR of the environment, or in the build.
std::filesystem::path app_path(std::string const& app);

/// Runs a program, a path, with its output captured.
Outcome run_program(std::string const& program, std::vector<std::string> const& arguments);

/// Runs an app with its output captured, as in a pipe.
Outcome run_app(std::string const& app, std::vector<std::string> const& arguments);

/// The same with `input` in a pipe as its standard input.
Outcome run_program_with_input(std::string const& program,
                               std::vector<std::string> const& arguments, std::string const& input);
Outcome run_app_with_input(std::string const& app, std::vector<std::string> const& arguments,
                           std::string const& input);

/// Runs an app on a pseudo-terminal; what it wrote there, stdout and stderr mixed, is in `out`.
Outcome run_app_on_terminal(std::string const& app, std::vector<std::string> const& arguments);

/// Starts an app, sends it a signal after `seconds`, and waits for its end.
Outcome run_app_and_signal(std::string const& app, std::vector<std::string> const& arguments,
                           int signal, double seconds);
inline Outcome run_app_and_interrupt(std::string const& app,
                                     std::vector<std::string> const& arguments, double seconds) {
  return run_app_and_signal(app, arguments, SIGINT, seconds);
}

/// Runs a command of the shell, in which $eig, $solve and $spmm are the programs, in `folder`.
Outcome run_shell(std::filesystem::path const& folder, std::string const& command);

}  // namespace blockspan::test
