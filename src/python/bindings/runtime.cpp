#include "runtime.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <Kokkos_Core.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#if defined(_OPENMP)
#include <omp.h>
#endif

#include <blockspan/support/error.hpp>
#include <blockspan/support/host_settings.hpp>

#include "arrays/arrays.hpp"
#include "gil.hpp"

namespace blockspan::python {

namespace {

std::atomic<bool> forked = false;  // from a process whose device this one cannot use
std::atomic<bool> at_exit = false;
std::thread::id exiting_thread;  // valid once at_exit is set
std::atomic<int> threads_that_want_gil = 0;
int wanted_threads = 0;  // 0: as OMP_NUM_THREADS says

void set_threads(int threads) {
  require(threads >= 1 && threads <= most_host_threads, "blockspan.threads", threads,
          " threads; there can be 1 to ", most_host_threads);
  require(!Kokkos::is_initialized() || threads == Exec().concurrency(), "blockspan.threads",
          "the library runs already, with ", Kokkos::is_initialized() ? Exec().concurrency() : 0,
          " threads; call this before the first product");
  wanted_threads = threads;
}

std::atomic<int> threads_inside = 0;
std::atomic<bool> closed = false;
thread_local int depth = 0;  // calls of this thread, one in a callback of the other

/// A forked child would wait for ever for OpenMP threads that exist only in its parent.
void before_fork() {
  {
    nb::gil_scoped_release const release;
    closed = true;
    int const own = depth > 0 ? 1 : 0;
    for (int inside = threads_inside; inside != own; inside = threads_inside)
      threads_inside.wait(inside);
  }
#if defined(_OPENMP)
  if (Kokkos::is_initialized()) omp_pause_resource_all(omp_pause_soft);
#endif
}

void after_fork() {
  closed = false;
  closed.notify_all();
}

void after_fork_in_child() {
  forked = on_device && Kokkos::is_initialized();
  after_fork();
}

template <class... Scalars>
std::vector<std::string> names_of(products::TypeList<Scalars...> /*compiled*/) {
  return {type_name<Scalars>()...};
}

Facts configuration() {
  start();
  nb::dict result;
  result["backend"] = Exec::name();
  if (on_device)
    result["device"] = device_of_library();
  else
    result["threads"] = Exec().concurrency();
  result["scalars"] = names_of(products::SpmmScalars{});
  result["stored"] = names_of(products::SpmmStorageScalars{});
  result["components"] =
      has_factors ? std::vector<std::string>{"direct"} : std::vector<std::string>{};
  result["kokkos"] = KOKKOS_VERSION;
  return result;
}

void translate(std::exception_ptr const& exception, void* error_type) {
  try {
    std::rethrow_exception(exception);
  } catch (Error const& error) {
    PyErr_SetString(error.kind() == ErrorKind::out_of_memory ? PyExc_MemoryError
                                                             : static_cast<PyObject*>(error_type),
                    error.what());
  } catch (std::runtime_error const& error) {  // Kokkos' own, where nobody has looked
    if (std::strstr(error.what(), "failed to allocate") == nullptr) throw;
    PyErr_SetString(PyExc_MemoryError, error.what());
  }
}

}  // namespace

void start(int device) {
  require(!forked, "blockspan",
          "this process was forked after the library had used CUDA, which cannot be used then: "
          "start processes by 'spawn' or 'forkserver'");
  static std::once_flag once;
  std::call_once(once, [device] {
    if (Kokkos::is_initialized()) return;
    auto settings = host_settings();
    if (wanted_threads > 0) settings.set_num_threads(wanted_threads);
    initialize(settings, device);
  });
}

int device_of_library() { return Kokkos::device_id(); }

void hold_back_daemons() {
  exiting_thread = std::this_thread::get_id();
  at_exit = true;
  WithoutGil const without_gil;  // those that wait for it now pass
  while (threads_that_want_gil > 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void wants_gil() {
  ++threads_that_want_gil;
  if (!at_exit || std::this_thread::get_id() == exiting_thread) return;
  --threads_that_want_gil;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void has_gil() { --threads_that_want_gil; }

void enter_library() {
  if (depth++ > 0) return;
  for (;;) {
    closed.wait(true);
    ++threads_inside;
    if (!closed) return;
    --threads_inside;
    threads_inside.notify_all();
  }
}

void leave_library() {
  if (--depth > 0) return;
  --threads_inside;
  if (closed) threads_inside.notify_all();  // a call of the system, so not always
}

void bind_runtime(nb::module_& m) {
  nb::object const error = nb::module_::import_("blockspan.errors").attr("Error");
  nb::register_exception_translator(translate, error.inc_ref().ptr());
  m.def("start", &start, nb::arg("device"));
  m.def("set_threads", &set_threads, nb::arg("threads"));
  m.def("before_fork", &before_fork);
  m.def("after_fork", &after_fork);
  m.def("after_fork_in_child", &after_fork_in_child);
  m.def("hold_back_daemons", &hold_back_daemons);
  m.def("configuration", &configuration);
}

}  // namespace blockspan::python
