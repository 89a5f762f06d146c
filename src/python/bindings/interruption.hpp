#pragma once

#include <chrono>
#include <exception>
#include <utility>

#include <blockspan/support/interruption.hpp>

#include "gil.hpp"
#include <nanobind/nanobind.h>

namespace blockspan::python {

/// An exception raised by Python code during a solve, stored until the solver, which is asked to
/// stop, has returned with the best iterates. Usable with or without the GIL.
class Interruption {
 public:
  Interruption() { innermost_ = this; }
  Interruption(Interruption const&) = delete;
  ~Interruption() { innermost_ = outer_; }

  /// The one of the innermost solve of this thread; null outside a solve.
  static Interruption* of_this_thread() { return innermost_; }

  bool pending() const { return exception_ != nullptr; }
  void keep(std::exception_ptr exception) {
    if (!pending()) exception_ = std::move(exception);
  }

  /// Runs the handlers of pending signals (Ctrl-C), at most every 20 ms.
  void check_signals() {
    auto const now = std::chrono::steady_clock::now();
    if (pending() || now - last_ < std::chrono::milliseconds(20)) return;
    last_ = now;
    WithGil const with_gil;
    if (PyErr_CheckSignals() != 0) keep(std::make_exception_ptr(nanobind::python_error()));
  }

  /// Whether a solve continues after an iteration: no signal is pending, and `monitor` (may be
  /// None), called with progress(), has neither raised nor returned False.
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

  /// check_signals() in the form that InterruptionCheck expects.
  auto as_check() {
    return [this] {
      check_signals();
      return !pending();
    };
  }

  /// Throws the stored exception, if any. Needs the GIL.
  [[noreturn]] void rethrow() const { std::rethrow_exception(exception_); }

  /// The stored exception, or None. Needs the GIL.
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

/// Calls work() without the GIL. If a signal handler raises (Ctrl-C), work stops at its next step
/// (see InterruptionCheck), and the exception is propagated.
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
