#pragma once

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>

#include "solvers/print_status.hpp"
#include "solvers/test_matrix.hpp"
#include "support/blocks.hpp"
#include "support/compare.hpp"
#include "support/types.hpp"

namespace blockspan::test {

inline constexpr CgMethod both_methods[] = {CgMethod::pseudo_block, CgMethod::block};
inline constexpr CgMethod every_method[] = {CgMethod::pseudo_block, CgMethod::block,
                                            CgMethod::automatic};

/// Which M^-1 a solve uses.
enum class Preconditioner {
  none,
  jacobi,   ///< the library's, applied inside the solver's passes
  foreign,  ///< the same matrix as an operator that the solver knows nothing of
};

/// The 7-point grid, for complex scalars with a phase on every edge (a Hermitian matrix whose
/// eigenvalues are none of the real one's).
template <class Scalar>
TestMatrix<Scalar> hermitian_grid(int N);

/// A grid with rows and columns scaled by d_i, 1 <= d_i < 2: its Jacobi is not the identity, and
/// single precision rounds its entries.
template <class Scalar>
TestMatrix<Scalar> graded_grid(int N);

/// The Jacobi preconditioner of A as the library has it.
template <class Scalar, class Exec>
JacobiPreconditioner<Scalar, Exec> library_jacobi(TestMatrix<Scalar> const& A);

template <class Scalar, class Exec>
struct CgCase {
  using Options = CgOptions<Scalar, Exec>;

  TestMatrix<Scalar> A;
  HostBlock<Scalar> B;
  CgMethod method = CgMethod::automatic;
  Preconditioner preconditioner = Preconditioner::jacobi;
  std::function<void(Options&)> change;  ///< of the options
  HostBlock<Scalar> guess;               ///< empty: none
  Storage storage = Storage::right;
  bool tell_norm = true;
};

/// ||b - A x|| / ||b|| of each column in extended precision, and how far the same number may be
/// from it in the precision of the solver: gamma_m || |A| |x| + |b| || / ||b||, m the longest row
/// + 3.
struct JudgedResiduals {
  std::vector<long double> value, rounding;
};

template <class Scalar>
JudgedResiduals judge_residuals(TestMatrix<Scalar> const& A, HostBlock<Scalar> const& B,
                                HostBlock<Scalar> const& X);

/// A solve, and what the test itself finds out about it.
template <class Scalar>
struct CgSolved {
  CgReport<real_t<Scalar>> report;
  HostBlock<Scalar> X;
  JudgedResiduals residual;
  int most_iterations = 0;  ///< of a column
};

/// Whether columns hold what the report says of them.
template <class Scalar, class Exec>
void check_columns(CgSolved<Scalar>& solved, CgOptions<Scalar, Exec> const& options);

/// Solves with operators of the test's own, checks that the counts are true and that every column
/// that claims success has it.
template <class Scalar, class Exec>
CgSolved<Scalar> solve(CgCase<Scalar, Exec> const& c);

}  // namespace blockspan::test
