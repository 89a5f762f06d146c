#pragma once

/// Everything: sparse matrices, blocks of vectors, their product, operators and solvers.
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/gershgorin.hpp>
#include <blockspan/operators/incomplete_lu.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/status.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/validate.hpp>
#include <blockspan/spmm/heuristics.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/spmm/tuned_plan.hpp>
#include <blockspan/support/error.hpp>
