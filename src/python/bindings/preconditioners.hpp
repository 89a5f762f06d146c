#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Binds the preconditioners of matrices.
void bind_preconditioners(nanobind::module_& m);

}  // namespace blockspan::python
