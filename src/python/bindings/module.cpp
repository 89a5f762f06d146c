#include "files.hpp"
#include "matrix.hpp"
#include "operators.hpp"
#include "preconditioners.hpp"
#include "runtime.hpp"
#include "solvers/solvers.hpp"
#include <nanobind/nanobind.h>

NB_MODULE(BLOCKSPAN_PYTHON_MODULE, m) {
  nanobind::set_leak_warnings(false);  // handles that live at exit are no fault
  blockspan::python::bind_runtime(m);
  blockspan::python::bind_operators(m);
  blockspan::python::bind_matrix(m);
  blockspan::python::bind_preconditioners(m);
  if constexpr (!blockspan::python::on_device) blockspan::python::bind_files(m);
  blockspan::python::bind_lobpcg(m);
  if constexpr (!blockspan::python::on_device) blockspan::python::bind_exact(m);
  blockspan::python::bind_cg(m);
}
