#pragma once

#include <nanobind/nanobind.h>

namespace blockspan::python {

/// Starts Kokkos, unless it runs. It is never ended: handles may outlive whoever would end it, and
/// the end of the process frees everything.
void start();

/// Starting, forking, what this build is, and how exceptions become Python's.
void bind_runtime(nanobind::module_& m);

}  // namespace blockspan::python
