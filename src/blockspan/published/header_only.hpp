#pragma once

// Compiles the product and the published kernels where they are used, for types that the libraries
// have no instance of; as <blockspan/spmm/header_only.hpp>, which it includes.

#include <blockspan/published/kernels/tile_impl.hpp>
#include <blockspan/published/menu/registration.hpp>
#include <blockspan/spmm/header_only.hpp>

namespace blockspan {

/// Makes the published kernels known for these types. Once, before the first plan that asks for one
/// of them, and not while another thread makes plans.
template <class Exec, class Scalar, class Ordinal>
void register_published() {
  published::register_published_menu();
  published::register_published_tiles<Exec, Ordinal>();
  published::register_published_kernels<Exec, Scalar, Ordinal>();
}

}  // namespace blockspan
