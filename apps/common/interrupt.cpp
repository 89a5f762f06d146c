#include "common/interrupt.hpp"

#include <csignal>

namespace blockspan::apps {

namespace {
volatile std::sig_atomic_t interrupt_flag = 0;

void on_interrupt(int) {
  interrupt_flag = 1;
  std::signal(SIGINT, SIG_DFL);
}
}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_flag = 0;
  std::signal(SIGINT, on_interrupt);
}

InterruptGuard::~InterruptGuard() { std::signal(SIGINT, SIG_DFL); }

bool InterruptGuard::interrupted() { return interrupt_flag != 0; }

}  // namespace blockspan::apps
