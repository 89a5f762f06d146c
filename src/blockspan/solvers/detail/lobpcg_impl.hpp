#pragma once

#include <blockspan/solvers/detail/block_fit.hpp>
#include <blockspan/solvers/detail/dense_path.hpp>
#include <blockspan/solvers/detail/lobpcg_solver.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan {

template <class Scalar, class Exec>
void LobpcgOptions<Scalar, Exec>::validate() const {
  constexpr auto where = "LobpcgOptions";
  require(wanted >= 1, where, "wanted is ", wanted, ", at least 1 pair must be asked for");
  require(tolerance > 0 && tolerance < 1, where, "tolerance is ", tolerance, ", not in (0, 1)");
  require(max_iterations >= 0, where, "max_iterations is ", max_iterations, ", negative");
  require(guess_columns >= 0, where, "guess_columns is ", guess_columns, ", negative");
  require(stagnation_window >= 1, where, "stagnation_window is ", stagnation_window, ", below 1");
  require(block >= 0, where, "block is ", block, ", negative");
  require(checkpoint_seconds >= 0, where, "checkpoint_seconds is ", checkpoint_seconds,
          ", negative or NaN");
  require(mass_lower_bound >= 0, where, "mass_lower_bound is ", mass_lower_bound,
          ", negative or NaN");
  require(widest_block >= 0, where, "widest_block is ", widest_block, ", negative");
  require(time_limit >= 0, where, "time_limit is ", time_limit, " seconds, negative or NaN");
}

namespace detail {

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg_solve(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                                          LinearOperator<Scalar, Exec> const* B,
                                          Block<Scalar, Exec> const& X,
                                          LobpcgOptions<Scalar, Exec> const& options) {
  constexpr auto where = "lobpcg";
  options.validate();
  std::int64_t const n = A.rows(), m = X.extent(1);
  require(static_cast<std::int64_t>(X.extent(0)) == n, where, "X has ", X.extent(0),
          " rows, A has order ", n);
  require(!B || B->rows() == n, where, "B has order ", B ? B->rows() : 0, ", A has order ", n);
  auto const* T = options.preconditioner;
  require(!T || T->rows() == n, where, "the preconditioner has order ", T ? T->rows() : 0,
          ", A has order ", n);
  require(options.wanted <= m, where, options.wanted, " pairs wanted, but X has ", m, " columns");
  require(options.wanted <= n, where, options.wanted, " pairs wanted of a problem of order ", n);
  require(options.guess_columns <= m, where, "guess_columns is ", options.guess_columns,
          ", but X has ", m, " columns");
  require(options.block <= m, where, "block is ", options.block, ", but X has ", m, " columns");
  std::int64_t const c = options.constraints.extent(1);
  require(c == 0 || static_cast<std::int64_t>(options.constraints.extent(0)) == n, where,
          "the constraints have ", options.constraints.extent(0), " rows, A has order ", n);
  require(options.wanted <= n - c, where, options.wanted, " pairs wanted of a problem of order ", n,
          " with ", c, " constraints");
  Problem<Scalar, Exec> problem(exec, A, B, options);
  if (!holds_five_blocks(n, options, m)) return DensePath<Scalar, Exec>(problem, options).solve(X);
  int const columns = static_cast<int>(iterated_columns(options, m));
  return LobpcgSolver<Scalar, Exec>(problem, X, columns, options).solve();
}

}  // namespace detail

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options) {
  return detail::lobpcg_solve<Scalar, Exec>(exec, A, nullptr, X, options);
}

template <class Scalar, class Exec>
LobpcgReport<real_t<Scalar>> lobpcg(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const& B,
    Block<Scalar, Exec> const& X,
    std::type_identity_t<LobpcgOptions<Scalar, Exec>> const& options) {
  return detail::lobpcg_solve<Scalar, Exec>(exec, A, &B, X, options);
}

}  // namespace blockspan
