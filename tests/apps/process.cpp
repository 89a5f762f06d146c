#include "apps/process.hpp"

#include <cerrno>
#include <cstdlib>

#include "support/files.hpp"
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace blockspan::test {

namespace {

constexpr unsigned patience = 3600;  ///< seconds until a hung program is ended

[[noreturn]] void become(std::string const& program, std::vector<std::string> const& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (std::string const& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  alarm(patience);
  execv(program.c_str(), argv.data());
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Starts a program with stdout and stderr in files of `folder`.
pid_t start(std::string const& program, std::vector<std::string> const& arguments,
            TemporaryFolder const& folder) {
  std::string const out = folder / "out", err = folder / "err";
  pid_t const child = fork();
  if (child != 0) return child;
  dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
  dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  become(program, arguments);
}

Outcome finish(pid_t child, TemporaryFolder const& folder) {
  int const status = wait_for(child);
  return {status, read_text(folder / "out"), read_text(folder / "err")};
}

}  // namespace

std::filesystem::path app_path(std::string const& app) {
  char const* folder = std::getenv("BLOCKSPAN_APPS_DIR");
  std::filesystem::path const apps = folder != nullptr ? folder : BLOCKSPAN_APPS_DIR;
  // the folder of the short programs
  if (app.rfind("quickstart", 0) == 0) return apps / "quickstart" / ("blockspan-" + app);
  return apps / app / app;
}

Outcome run_program(std::string const& program, std::vector<std::string> const& arguments) {
  TemporaryFolder const folder;
  return finish(start(program, arguments, folder), folder);
}

Outcome run_app(std::string const& app, std::vector<std::string> const& arguments) {
  return run_program(app_path(app).string(), arguments);
}

Outcome run_app_with_input(std::string const& app, std::vector<std::string> const& arguments,
                           std::string const& input) {
  return run_program_with_input(app_path(app).string(), arguments, input);
}

Outcome run_program_with_input(std::string const& program,
                               std::vector<std::string> const& arguments,
                               std::string const& input) {
  TemporaryFolder const folder;
  int ends[2];
  if (pipe(ends) != 0) return {};
  int const before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  pid_t const child = start(program, arguments, folder);
  dup2(before, STDIN_FILENO);
  close(before);
  auto const unread = signal(SIGPIPE, SIG_IGN);  // a program that refuses need not read
  for (std::size_t done = 0; done < input.size();) {
    ssize_t const wrote = write(ends[1], input.data() + done, input.size() - done);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  close(ends[1]);
  signal(SIGPIPE, unread);
  return finish(child, folder);
}

Outcome run_app_and_signal(std::string const& app, std::vector<std::string> const& arguments,
                           int signal, double seconds) {
  TemporaryFolder const folder;
  pid_t const child = start(app_path(app).string(), arguments, folder);
  usleep(static_cast<useconds_t>(seconds * 1e6));
  kill(child, signal);
  return finish(child, folder);
}

Outcome run_shell(std::filesystem::path const& folder, std::string const& command) {
  std::string script = "cd '" + folder.string() + "'";
  for (std::string const app : {"eig", "solve", "spmm"})
    script.append("; ").append(app).append("='").append(app_path("blockspan-" + app).string()) +=
        '\'';
  return run_program("/bin/sh", {"-c", script + "; " + command});
}

Outcome run_app_on_terminal(std::string const& app, std::vector<std::string> const& arguments) {
  std::string const program = app_path(app).string();
  int terminal = -1;
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 100;
  pid_t const child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) become(program, arguments);
  Outcome outcome;
  char buffer[4096];
  // A read fails (EIO) once the program has closed its side.
  for (ssize_t got; (got = read(terminal, buffer, sizeof buffer)) > 0;)
    outcome.out.append(buffer, static_cast<std::size_t>(got));
  close(terminal);
  outcome.status = wait_for(child);
  return outcome;
}

}  // namespace blockspan::test
