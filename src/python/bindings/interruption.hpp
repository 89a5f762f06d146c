#pragma once

#include <chrono>
#include <exception>
#include <utility>

#include <blockspan/support/interruption.hpp>

#include "gil.hpp"
#include <nanobind/nanobind.h>

namespace blockspan::python {

/// What Python code that ran inside a solve has raised: kept until the solver, asked to stop, has
/// returned with the best so far. With the GIL or without it.
class Interruption {
 public:
  Interruption() { innermost_ = this; }
  Interruption(Interruption const&) = delete;
  ~Interruption() { innermost_ = outer_; }

  /// Of the innermost solve that this thread is in; null outside.
  static Interruption* of_this_thread() { return innermost_; }

  bool pending() const { return exception_ != nullptr; }
  void keep(std::exception_ptr exception) {
    if (!pending()) exception_ = std::move(exception);
  }

  /// Runs the handlers of signals that have come (Ctrl-C), at most every 20 ms.
  void check_signals() {
    auto const now = std::chrono::steady_clock::now();
    if (pending() || now - last_ < std::chrono::milliseconds(20)) return;
    last_ = now;
    WithGil const with_gil;
    if (PyErr_CheckSignals() != 0) keep(std::make_exception_ptr(nanobind::python_error()));
  }

  /// Whether a solve goes on after an iteration: no signal has come, and `monitor` (None: there is
  /// none), called with progress(), has neither raised nor returned False.
  template <class Progress>
  bool goes_on(nanobind::object const& monitor, Progress const& progress) {
    check_signals();
    if (pending() || monitor.is_none()) return !pending();
    WithGil const with_gil;
    try {
      return !monitor(progress()).is(nanobind::bool_(false));
    } catch (nanobind::python_error const&) {
      keep(std::current_exception());
      return false;
    }
  }

  /// check_signals() as InterruptionCheck wants it.
  auto as_check() {
    return [this] {
      check_signals();
      return !pending();
    };
  }

  /// Throws what was kept. With the GIL.
  [[noreturn]] void rethrow() const { std::rethrow_exception(exception_); }

  /// The exception as an object, None if there is none. With the GIL.
  nanobind::object raised() const {
    if (!pending()) return nanobind::none();
    try {
      std::rethrow_exception(exception_);
    } catch (nanobind::python_error const& error) {
      return nanobind::borrow(error.value());
    }
  }

 private:
  inline static thread_local Interruption* innermost_ = nullptr;

  Interruption* outer_ = innermost_;
  std::exception_ptr exception_;
  std::chrono::steady_clock::time_point last_{};
};

/// work() without the GIL. Where the handler of a signal raises (Ctrl-C), work ends at its next
/// step (see InterruptionCheck), and that exception comes out.
template <class Work>
auto interruptible(Work const& work) {
  Interruption interruption;
  try {
    WithoutGil const without_gil;
    InterruptionCheck const check(interruption.as_check());
    return work();
  } catch (Interrupted const&) {
    interruption.rethrow();
  }
}

}  // namespace blockspan::python
