#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Once set, threads that the interpreter no longer waits for (daemons) stay where they want the
/// GIL back: Python before 3.14 would end them there, through frames that must not be unwound.
void hold_back_daemons();
/// Returns unless this thread is to stay; from then to has_gil() the end of the interpreter waits.
void wants_gil();
void has_gil();

// A fork waits until no other thread is in the library, and holds back those that come: the child
// would inherit their locks, and nobody who opens them. Forks in a callback of a solve are fine.
void enter_library();
void leave_library();

/// The calling thread does without the GIL, and is in the library.
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

/// It has the GIL, whether it had it before or not.
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
