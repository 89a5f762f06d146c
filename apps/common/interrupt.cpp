#include "common/interrupt.hpp"

#include <csignal>

namespace blockspan::apps {

namespace {

volatile std::sig_atomic_t interrupt_flag = 0;

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};

void on_interrupt(int signal) {
  interrupt_flag = 1;
  std::signal(signal, SIG_DFL);
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

InterruptGuard::InterruptGuard() {
  interrupt_flag = 0;
  set_all(on_interrupt);
}

InterruptGuard::~InterruptGuard() { set_all(SIG_DFL); }

bool InterruptGuard::interrupted() { return interrupt_flag != 0; }

}  // namespace blockspan::apps
