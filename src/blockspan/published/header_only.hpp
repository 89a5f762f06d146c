#pragma once

// Compiles the product and the published kernels where they are used, for types that are not
// compiled into the libraries. Like <blockspan/spmm/header_only.hpp>, which it includes.

#include <blockspan/published/kernels/tile_impl.hpp>
#include <blockspan/published/menu/registration.hpp>
#include <blockspan/spmm/header_only.hpp>

namespace blockspan {

/// Registers the published kernels for these types. To be called once, before the first plan that
/// selects one of them, and not while another thread creates plans.
template <class Exec, class Scalar, class Ordinal>
void register_published() {
  published::register_published_menu();
  published::register_published_tiles<Exec, Ordinal>();
  published::register_published_kernels<Exec, Scalar, Ordinal>();
}

}  // namespace blockspan
