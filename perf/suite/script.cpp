#include "suite/script.hpp"

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "common/files/words.hpp"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace blockspan::perf {

namespace {

using Clock = std::chrono::steady_clock;

std::string last_line_of(std::string const& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) last = line;
  return last;
}

/// Starts a program with its output in a file; 0 where the system does not.
pid_t start(std::vector<std::string> words, std::string const& log, int& error) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : 0;
}

}  // namespace

ScriptOutcome run_script(Scripts const& scripts, std::string const& name,
                         std::vector<std::string> const& arguments, std::string const& log,
                         double seconds) {
  std::vector<std::string> words{scripts.python, scripts.folder + "/" + name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  int error = 0;
  pid_t const child = start(words, log, error);
  if (child == 0) return {127, scripts.python + ": " + std::strerror(error)};
  auto const end = Clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return {script_took_too_long, apps::formatted("took longer than %.0f s", seconds)};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), last_line_of(log)};
}

}  // namespace blockspan::perf
