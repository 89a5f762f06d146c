#include "common/run/interrupt.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

namespace blockspan::apps {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
constexpr unsigned setup_seconds = 3;

volatile std::sig_atomic_t interrupt_flag = 0;
volatile std::sig_atomic_t has_begun = 0;
NothingYet nothing;  // set before the handler is

/// Only what is safe in a handler.
void on_late_setup(int) {
  if (has_begun != 0) return;
  for (char const* const part :
       {static_cast<char const*>(program_invocation_short_name), ": ", nothing.words, "\n"})
    (void)!::write(STDERR_FILENO, part, std::strlen(part));
  ::_exit(nothing.status);
}

void on_interrupt(int signal) {
  interrupt_flag = 1;
  std::signal(signal, SIG_DFL);
  if (has_begun == 0) ::alarm(setup_seconds);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void set_all(void (*handler)(int)) {
  for (int const signal : signals)
    if (signal != SIGHUP || !is_ignored(SIGHUP)) std::signal(signal, handler);
}

}  // namespace

InterruptGuard::InterruptGuard(NothingYet const& nothing_yet) {
  nothing = nothing_yet;
  interrupt_flag = 0;
  has_begun = 0;
  std::signal(SIGALRM, on_late_setup);
  set_all(on_interrupt);
}

InterruptGuard::~InterruptGuard() {
  set_all(SIG_DFL);
  ::alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

bool InterruptGuard::interrupted() {
  work_has_begun();
  return interrupt_flag != 0;
}

void InterruptGuard::work_has_begun() { has_begun = 1; }

}  // namespace blockspan::apps
