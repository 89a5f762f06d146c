#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/support/memory.hpp>

#include "blockspan-solve/check.hpp"
#include "blockspan-solve/judge.hpp"
#include "blockspan-solve/scaled_matrix.hpp"
#include "blockspan-solve/single_setup.hpp"
#include "blockspan-solve/solve.hpp"
#include "common/interrupt.hpp"
#include "common/lap.hpp"
#include "common/preconditioner.hpp"
#include "common/problem.hpp"
#include "common/products.hpp"
#include "common/symmetry.hpp"

namespace blockspan::apps {

namespace detail {

template <class Scalar, class Exec>
CgOptions<Scalar, Exec> solver_options(SolveCommand const& command) {
  CgOptions<Scalar, Exec> options;
  options.tolerance = command.tolerance;
  options.absolute_tolerance = command.absolute_tolerance;
  options.use_guess = !command.guess.empty();
  options.max_iterations = command.max_iterations;
  options.method = command.method == "block"          ? CgMethod::block
                   : command.method == "pseudo-block" ? CgMethod::pseudo_block
                                                      : CgMethod::automatic;
  options.single_reduction = command.single_reduction;
  options.time_phases = true;
  return options;
}

/// A block of the shape rows x columns where Exec computes.
template <class Scalar, class Exec>
Block<Scalar, Exec> new_block(Exec const& exec, std::string const& label, std::int64_t rows,
                              std::int64_t columns) {
  return allocate<Block<Scalar, Exec>>(exec, label, rows, columns);
}

/// The right-hand sides: of the file, or random.
template <class Scalar, class Exec>
Block<Scalar, Exec> right_hand_sides(Exec const& exec, SolveCommand const& command,
                                     std::int64_t rows) {
  if (command.rhs.empty()) {
    auto const B = new_block<Scalar>(exec, "Blockspan::right_hand_sides", rows, command.columns);
    fill_random(exec, B, command.seed);
    return B;
  }
  auto const on_host = read_block<Scalar>(input_file(command.rhs));
  auto const B = new_block<Scalar>(exec, "Blockspan::right_hand_sides", rows,
                                   static_cast<std::int64_t>(on_host.extent(1)));
  Kokkos::deep_copy(exec, B, on_host);
  exec.fence("Blockspan::right_hand_sides");
  return B;
}

/// An orthonormal basis of N, vectors of --null-space, in its place; no columns where it has none.
template <class Scalar, class Exec>
Block<Scalar, Exec> null_basis(Exec const& exec, SolveCommand const& command,
                               Block<Scalar, Exec> const& N, Workspace<Exec>& workspace) {
  if (N.extent(1) == 0) return {};
  int const rank = orthonormalize(exec, N, workspace).rank;
  std::int64_t const rows = workspace.rows().global_rows(static_cast<std::int64_t>(N.extent(0)));
  workspace.rows().communicator().together([&] {
    require(rows == 0 || rank > 0, "--null-space", command.null_space,
            " has no vector that is finite and not zero");
  });
  return Kokkos::subview(N, Kokkos::ALL, std::pair(0, rank));
}

/// Orthonormal vectors of --null-space; no columns where there is none.
template <class Scalar, class Exec>
Block<Scalar, Exec> null_space(Exec const& exec, SolveCommand const& command, std::int64_t rows) {
  if (command.null_space.empty()) return {};
  Block<Scalar, Exec> N;
  if (command.null_space == "constant") {
    N = new_block<Scalar>(exec, "Blockspan::null_space", rows, 1);
    Kokkos::deep_copy(exec, N, Scalar(1));
  } else {
    auto const given = read_block<Scalar>(input_file(command.null_space));
    N = new_block<Scalar>(exec, "Blockspan::null_space", rows,
                          static_cast<std::int64_t>(given.extent(1)));
    Kokkos::deep_copy(exec, N, given);
  }
  Workspace<Exec> workspace;
  return null_basis<Scalar>(exec, command, N, workspace);
}

/// X := 2^exponent X
template <class Scalar, class Exec>
void scale_all(Exec const& exec, int exponent, Block<Scalar, Exec> const& X) {
  if (exponent == 0) return;
  Kokkos::View<real_t<Scalar>*, Kokkos::HostSpace> const factors("factors", X.extent(1));
  Kokkos::deep_copy(factors, std::ldexp(real_t<Scalar>(1), exponent));
  scale_columns(exec, factors, X);
}

/// Columns of X that no number of the format can hold become zero.
template <class Scalar, class Exec>
void drop_overflow(Exec const& exec, std::vector<double> const& residuals,
                   Block<Scalar, Exec> const& X) {
  for (std::size_t j = 0; j < residuals.size(); ++j)
    if (!std::isfinite(residuals[j]))
      Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, j), Scalar(0));
  exec.fence("Blockspan::drop_overflow");
}

inline bool blames_preconditioner(CgReport<double> const& report) {
  return std::any_of(report.columns.begin(), report.columns.end(), [](auto const& column) {
    return column.status == Status::preconditioner_not_spd;
  });
}

/// What the solver says of 2^exponent A, said of A.
inline void note_scale(SolveResult& result, int exponent) {
  result.exponent = exponent;
  if (exponent == 0) return;
  result.solver.norm_a = std::ldexp(result.solver.norm_a, -exponent);
  result.notes.push_back("the matrix was scaled by 2^" + std::to_string(exponent) +
                         " for the solve, since its values are near the ends of the range");
}

}  // namespace detail

template <class Scalar, class Exec>
SolveResult solve(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                  OutputFile* solution) {
  require_product<Exec>(command.machine.spmm);
  require_precision<Scalar>(command.precision, command.machine.spmm, command.preconditioner_choice);
  SolveResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  auto const loaded = load_matrix<Scalar>(exec, command.matrix);
  auto const [A, exponent] = into_range<Scalar>(
      exec, take_hermitian(exec, command.matrix, loaded, command.symmetrize, result.notes));
  auto const B = detail::right_hand_sides<Scalar>(exec, command, A.numRows());
  auto const k = static_cast<std::int64_t>(B.extent(1));
  auto const X = detail::new_block<Scalar>(exec, "Blockspan::solution", A.numRows(), k);
  if (!command.guess.empty())
    Kokkos::deep_copy(exec, X, read_block<Scalar>(input_file(command.guess)));
  detail::scale_all(exec, -exponent, X);
  auto const N = detail::null_space<Scalar>(exec, command, A.numRows());
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.columns = static_cast<int>(k);
  auto const product = make_product<Scalar>(exec, A, command.machine.spmm, result.columns);
  auto options = detail::solver_options<Scalar, Exec>(command);
  auto choice = command.preconditioner_choice;
  choice.columns = result.columns;
  auto M = make_preconditioner<Scalar>(exec, choice, A, *product.op, Definiteness::positive);
  options.preconditioner = M.op.get();
  auto const inner = make_inner_solver<Scalar>(exec, command.precision, A, result.columns,
                                               command.preconditioner_choice);
  options.inner = inner.get();
  options.null_space = N;
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  LateSwitch late(command.tolerance);
  options.monitor = [&](CgProgress<double> const& now) {
    progress.iteration(now.iteration, now.converged, now.residuals, command.tolerance);
    return !late.due(now.residuals, M.late_setup) &&
           !late.due(now.residuals, now.iteration, M.late_iterations) &&
           !InterruptGuard::interrupted();
  };
  result.solver = solve_spd(exec, *product.op, B, X, options);
  lap();
  auto const go_on = [&] {
    result.seconds.setup += lap();
    options.preconditioner = M.op.get();
    options.use_guess = true;
    result.solver = solve_spd(exec, *product.op, B, X, options);
    lap();
  };
  if (late.late()) {
    switch_late(exec, choice, A, result.solver.iterations, M);
    go_on();
  }
  if (detail::blames_preconditioner(result.solver) && M.mend && M.mend(M)) go_on();
  result.notes.insert(result.notes.end(), M.notes.begin(), M.notes.end());
  result.levels = M.levels;

  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
  progress.stage("checking the residuals");
  detail::scale_all(exec, exponent, X);
  auto const check = check_residuals<Scalar, Exec>(
      exec, {},
      [&](Block<Scalar, Exec> const& Y, Block<Scalar, Exec> const& R) {
        blockspan::detail::subtract_product<Exec, Scalar>(
            exec, blockspan::detail::matrix_ref<Exec>(A), blockspan::detail::block_ref<Exec>(Y),
            blockspan::detail::block_ref<Exec>(R));
      },
      exponent, N, B, X);
  result.true_residuals = check.residual;
  result.rhs_norms = check.rhs_norms;
  detail::drop_overflow(exec, check.residual, X);
  result.seconds.check = lap();
  if (solution != nullptr) {
    progress.stage("writing " + solution->name());
    auto const fault = solution->write_by([&](std::string const& path) { write_block(path, X); });
    if (fault) result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = A.numRows();
  result.nonzeros = static_cast<std::int64_t>(A.nnz());
  result.product = product.name;
  result.product_reason = product.reason;
  detail::note_scale(result, exponent);
  if (M.op) result.preconditioner = M.op->name();
  judge(result, command);
  return result;
}

}  // namespace blockspan::apps
