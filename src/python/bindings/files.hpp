#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Matrices from files and generator specs, as NumPy arrays.
void bind_files(nanobind::module_& m);

}  // namespace blockspan::python
