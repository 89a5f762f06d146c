#pragma once

/// Sparse matrices, blocks of vectors, products, operators and solvers, and the components that the
/// including target links (with `mpi` also matrices on ranks, distributed/). Not included:
/// multigrid/exchange.hpp, which reads hierarchies of multigrid from files.
#include <blockspan/communication/communicator.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/diagonal.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/solvers/lobpcg_mixed.hpp>
#include <blockspan/solvers/single_precision.hpp>
#include <blockspan/solvers/status.hpp>
#include <blockspan/sparse/convert.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/dirichlet.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/sparse/graph.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/sparse/symmetry.hpp>
#include <blockspan/sparse/validate.hpp>
#include <blockspan/spmm/plan.hpp>
#include <blockspan/spmm/sddmm.hpp>
#include <blockspan/spmm/spmm.hpp>
#include <blockspan/spmm/spmm_dots.hpp>
#include <blockspan/spmm/tuned_plan.hpp>
#include <blockspan/support/error.hpp>

#ifdef BLOCKSPAN_HAS_CUSPARSE
#include <blockspan/operators/cusparse_operator.hpp>
#endif
#ifdef BLOCKSPAN_HAS_DIRECT
#include <blockspan/operators/direct.hpp>
#endif
#ifdef BLOCKSPAN_HAS_KOKKOS_KERNELS
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/kokkos_kernels_operator.hpp>
#endif
#ifdef BLOCKSPAN_HAS_MPI
#include <blockspan/communication/mpi.hpp>
#include <blockspan/distributed/convert.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/distributed_operator.hpp>
#include <blockspan/distributed/read_distributed.hpp>
#endif
