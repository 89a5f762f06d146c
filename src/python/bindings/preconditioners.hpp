#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Preconditioners of a matrix, as operators.
void bind_preconditioners(nanobind::module_& m);

}  // namespace blockspan::python
