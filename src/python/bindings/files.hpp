#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Matrices from files and specs, as arrays of NumPy.
void bind_files(nanobind::module_& m);

}  // namespace blockspan::python
