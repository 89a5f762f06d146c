#pragma once

// Compiles the product where it is used, for types the library has no instance of: include this
// before any other header of spmm/. Published kernels: <blockspan/published/header_only.hpp>.

#define BLOCKSPAN_SPMM_HEADER_ONLY

namespace blockspan::products {
template <class Exec>
struct HeaderOnlySpmm {};
}  // namespace blockspan::products

#include <blockspan/spmm/kernels/sampled.hpp>
#include <blockspan/spmm/kernels/sixteen_bit/sixteen_bit_rows.hpp>
#include <blockspan/spmm/prepared/cached_values_impl.hpp>
#include <blockspan/spmm/prepared/explain_impl.hpp>
#include <blockspan/spmm/prepared/plan_impl.hpp>
#include <blockspan/spmm/run/dots_impl.hpp>
#include <blockspan/spmm/run/multiply_impl.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
