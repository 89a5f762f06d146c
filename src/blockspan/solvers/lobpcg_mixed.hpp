#pragma once

#include <type_traits>

#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan {

/// The operators of an eigenproblem in single precision, rounded (see single_precision_rows), kept
/// by reference.
template <class Scalar, class Exec>
struct LobpcgSingleOperators {
  using Operator = LinearOperator<single_t<Scalar>, Exec>;

  Operator const& A;
  Operator const* B = nullptr;
  Operator const* preconditioner = nullptr;
  /// Their eigenvalues over those of the problem, where A and B are scaled to fit the range.
  real_t<Scalar> factor = 1;
};

/// What the solve in single precision contributed.
struct LobpcgSingleStage {
  /// How it ended; converged: with the accuracy that was asked of it.
  Status status = Status::not_converged;
  bool used = false;  ///< the solve in working precision began with its vectors
  int iterations = 0;
  LobpcgCounters counters;
  LobpcgSeconds seconds;
  LobpcgFault fault;
};

/// iterations, history and seconds.total are those of both stages; everything else is the report
/// of the solve in working precision.
template <class Real>
struct LobpcgMixedReport : LobpcgReport<Real> {
  LobpcgSingleStage single;
};

namespace eigen {
template <class Scalar, class Exec>
LobpcgMixedReport<real_t<Scalar>> solve_mixed(Exec const& exec,
                                              LobpcgSingleOperators<Scalar, Exec> const& single,
                                              LinearOperator<Scalar, Exec> const& A,
                                              LinearOperator<Scalar, Exec> const* B,
                                              Block<Scalar, Exec> const& X,
                                              LobpcgOptions<Scalar, Exec> const& options);
}  // namespace eigen

/// lobpcg in two stages: in single precision while its cheaper iterations make progress (to
/// backward errors of 1e-4), then in working precision from the vectors found. All tests, the
/// verification, the probe and the certificate are in working precision: no claim rests on single
/// precision.
///
/// The iterations of the two stages together are about those of one solve in working precision, and
/// the first half of them moves half the bytes. It does not pay where the start is good to four
/// digits already. `single` are the same operators rounded; where they fail (a value beyond the
/// range of float, say), the second stage begins with the start given, and the report says what
/// happened. X, options, errors and result: as lobpcg. max_iterations and time_limit hold for both
/// stages together, the monitor sees both, checkpoints are written and resumed by the second stage
/// only. Memory: half as much again, given back before the second stage.
///
/// The library must be compiled for single_t<Scalar>.
template <class Scalar, class Exec>
LobpcgMixedReport<real_t<Scalar>> lobpcg_mixed(
    Exec const& exec, std::type_identity_t<LobpcgSingleOperators<Scalar, Exec>> const& single,
    LinearOperator<Scalar, Exec> const& A, Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options = {}) {
  return eigen::solve_mixed<Scalar, Exec>(exec, single, A, nullptr, X, options);
}

/// The generalized problem A x = lambda B x.
template <class Scalar, class Exec>
LobpcgMixedReport<real_t<Scalar>> lobpcg_mixed(
    Exec const& exec, std::type_identity_t<LobpcgSingleOperators<Scalar, Exec>> const& single,
    LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const& B,
    Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options = {}) {
  return eigen::solve_mixed<Scalar, Exec>(exec, single, A, &B, X, options);
}

}  // namespace blockspan
