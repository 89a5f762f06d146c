#include "common/application.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <new>
#include <thread>

#include <Kokkos_Core.hpp>

#include <blockspan/support/error.hpp>

#include "common/input_file.hpp"
#include "common/ranks.hpp"
#include "common/words.hpp"

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

int refuse(std::string const& name, std::string const& message) noexcept {
  std::cerr << name << ": " << one_line(message) << std::endl;
  return ExitStatus::bad_input;
}

}  // namespace

int run_application(std::string const& name, std::function<int()> const& body) noexcept {
  try {
    return body();
  } catch (Error const& error) {
    return refuse(name, without_input_names(without_cpp_names(error.what())));
  } catch (std::bad_alloc const&) {
    return refuse(name, "out of memory");
  } catch (std::exception const& error) {
    return refuse(name, first_line(error.what()));
  }
}

int run_application(std::string const& name, int& argc, char**& argv,
                    std::function<int(Communicator const&)> const& body) noexcept {
  return run_application(name, [&]() -> int {
    Ranks const ranks(argc, argv);
    auto const& world = ranks.world();
    if (world.size() == 1) return body(world);
    bool together = false;
    std::string const me = name + ": rank " + std::to_string(world.rank());
    int const status = run_application(world.rank() == 0 ? name : me, [&]() -> int {
      try {
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
}

KokkosSession::KokkosSession() {
  try {
    Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
  } catch (std::exception const& error) {
    fail("backend", "this build cannot start here (", first_line(error.what()),
         "); without a GPU use a build for the host");
  }
}

KokkosSession::~KokkosSession() { Kokkos::finalize(); }

}  // namespace blockspan::apps
