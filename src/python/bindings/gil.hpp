#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Called when the interpreter shuts down: from then on daemon threads block where they would
/// reacquire the GIL. Python before 3.14 terminates them there, through frames that must not be
/// unwound.
void hold_back_daemons();
/// Blocks for ever if the interpreter is shutting down. Otherwise shutdown waits until has_gil().
void wants_gil();
void has_gil();

// A fork waits until no other thread is in the library and keeps others from entering it: the child
// would inherit locks that nobody releases. Forks in a callback of a solve are allowed.
void enter_library();
void leave_library();

/// Releases the GIL during its lifetime and marks the calling thread as inside the library.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) { enter_library(); }
  WithoutGil(WithoutGil const&) = delete;
  ~WithoutGil() {
    leave_library();
    wants_gil();
    PyEval_RestoreThread(state_);
    has_gil();
  }

 private:
  PyThreadState* state_;
};

/// Holds the GIL during its lifetime, whether the thread already had it or not.
class WithGil {
 public:
  WithGil() {
    wants_gil();
    state_ = PyGILState_Ensure();
    has_gil();
  }
  WithGil(WithGil const&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace blockspan::python
