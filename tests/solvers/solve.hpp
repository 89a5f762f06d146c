#pragma once

#include <functional>
#include <vector>

#include "solvers/judge.hpp"
#include "support/types.hpp"

namespace blockspan::test {

/// The grid of many tests: N points a side, of whose pairs the lowest are wanted.
namespace small_grid {
inline constexpr int N = 8, wanted = 6;
}

/// A solve and all that a test may want to look at afterwards.
template <class Scalar, class Exec>
struct Solved {
  LobpcgReport<real_t<Scalar>> report;
  Block<Scalar, Exec> X;
  Judgement found;  ///< by the test's own arithmetic
};

/// What holds of every accepted pair of every solve: its residual, by the test's own arithmetic,
/// and that its value is the Rayleigh quotient of its vector; of an answer, that its vectors are
/// orthonormal.
template <class Scalar, class Exec>
void expect_invariants(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B,
                       LobpcgOptions<Scalar, Exec> const& options,
                       Solved<Scalar, Exec> const& solved);

/// Options of tests that are about the iteration: no dense solve takes the problem away, and the
/// residual alone decides.
template <class Scalar, class Exec>
LobpcgOptions<Scalar, Exec> iteration_options(int wanted) {
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = wanted;
  options.path = SolvePath::iterative;
  options.criterion = Criterion::backward;
  return options;
}

/// Solves with the operators of test code; `prepare` may change options and the start in X.
template <class Scalar, class Exec>
Solved<Scalar, Exec> solve(TestMatrix<Scalar> const& A, TestMatrix<Scalar> const* B, int wanted,
                           std::function<void(LobpcgOptions<Scalar, Exec>&,
                                              Block<Scalar, Exec>&)> const& prepare = nullptr);

/// Fills columns of X from f(row, column).
template <class Scalar, class Exec>
void set_columns(Block<Scalar, Exec> const& X, int columns,
                 std::function<Scalar(int, int)> const& f);

/// ||A|| sqrt(wanted) times the largest recomputed backward error, plus rounding: how far a Ritz
/// value of an orthonormal block may be from its eigenvalue.
template <class Scalar, class Exec>
long double value_bound(Solved<Scalar, Exec> const& solved, long double norm_a);

template <class Scalar, class Exec>
void expect_values(Solved<Scalar, Exec> const& solved, std::vector<double> const& exact,
                   long double norm_a);

}  // namespace blockspan::test
