#include "common/run/application.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <thread>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>
#include <blockspan/support/host_settings.hpp>

#include "common/files/input_file.hpp"
#include "common/files/words.hpp"
#include "common/machine/memory.hpp"
#include "common/machine/versions.hpp"
#include "common/ranks/ranks.hpp"
#include <fcntl.h>
#include <unistd.h>

namespace blockspan::apps {

namespace {

/// The message without line breaks: one failure, one line.
std::string one_line(std::string message) {
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  for (char& c : message)
    if (c == '\n' || c == '\r') c = ' ';
  return message;
}

/// Kokkos appends its own source file and a stack trace to what it throws: neither helps a user.
std::string first_line(std::string const& message) {
  std::string const line = message.substr(0, message.find('\n'));
  return line.substr(0, line.find(" /"));
}

/// FNV-1a (Fowler, Noll, Vo), the same on all machines.
std::uint64_t checksum(std::string const& text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (char const c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

/// Throws AgreedError unless all ranks run the same program with the same words: else they would
/// wait for each other in calls that do not match.
void require_same_command(Communicator const& ranks, std::string const& name, int argc,
                          char** argv) {
  std::string mine = name;
  for (int i = 1; i < argc; ++i) mine.append(" ").append(argv[i]);
  Versions const built = versions();
  auto const sums = ranks.gather(
      std::array{checksum(mine), checksum(built.blockspan + built.kokkos + built.kokkos_kernels)});
  auto const other =
      std::find_if(sums.begin(), sums.end(), [&](auto const& sum) { return sum != sums[0]; });
  if (other == sums.end()) return;
  auto const which = static_cast<int>(other - sums.begin());
  std::string const theirs = ranks.words_of_first(ranks.rank() == which ? mine : ""),
                    ours = ranks.words_of_first(ranks.rank() == 0 ? mine : "");
  std::string const start = "all ranks need the same command, but rank ";
  throw AgreedError(start + (theirs != ours
                                 ? "0 was given '" + ours + "' and rank " + std::to_string(which) +
                                       " '" + theirs + "'"
                                 : std::to_string(which) + " runs another version of the program"));
}

/// Descriptors that were closed before the start get something that can be neither read nor
/// written: else the first file that is opened would take their place, and the table go there.
void keep_standard_streams() {
  for (int const stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

/// What can no longer be written is said by the call that writes, not by the end of the process.
void prepare() {
  keep_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int refuse(std::string const& name, std::string const& message) noexcept {
  std::cerr << name << ": " << one_line(message) << std::endl;
  return ExitStatus::bad_input;
}

/// The status of a run, once what it printed has been written.
int after_output(std::string const& name, int status) noexcept {
  if (std::cout.rdbuf() == nullptr) return status;  // not the first of several ranks
  errno = 0;
  std::cout.flush();
  bool const written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (written) return status;
  if (errno == 0) (void)!::write(STDOUT_FILENO, "\n", 1);  // an earlier call failed: why?
  return refuse(name, errno == 0 ? std::string("the standard output cannot be written")
                                 : std::string("the standard output cannot be written: ") +
                                       std::strerror(errno));
}

int guarded(std::string const& name, std::function<int()> const& body) noexcept {
  try {
    return body();
  } catch (Error const& error) {
    return refuse(name, without_input_names(without_cpp_names(error.what())));
  } catch (std::bad_alloc const&) {
    return refuse(name, out_of_memory());
  } catch (std::exception const& error) {
    return refuse(name, first_line(error.what()));
  }
}

}  // namespace

int run_application(std::string const& name, std::function<int()> const& body) noexcept {
  prepare();
  return after_output(name, guarded(name, body));
}

int run_application(std::string const& name, int& argc, char**& argv,
                    std::function<int(Communicator const&)> const& body) noexcept {
  prepare();
  int const ended = guarded(name, [&]() -> int {
    Ranks const ranks(argc, argv);
    auto const& world = ranks.world();
    if (world.size() == 1) return body(world);
    bool together = false;
    std::string const me = name + ": rank " + std::to_string(world.rank());
    int const status = guarded(world.rank() == 0 ? name : me, [&]() -> int {
      try {
        require_same_command(world, name, argc, argv);
        return body(world);
      } catch (AgreedError const&) {
        together = true;
        if (world.rank() > 0) return bad_input;
        throw;
      } catch (...) {
        // what all ranks throw by themselves is said by the lowest, which ends the others
        std::this_thread::sleep_for(std::chrono::milliseconds(300) * std::min(world.rank(), 10));
        throw;
      }
    });
    if (status == bad_input && !together) world.abort(bad_input);
    return status;
  });
  return after_output(name, ended);
}

KokkosSession::KokkosSession() {
  try {
    Kokkos::initialize(host_settings());
  } catch (std::exception const& error) {
    fail("backend", "this build cannot start here (", first_line(error.what()),
         "); without a GPU use a build for the host");
  }
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace blockspan::apps
