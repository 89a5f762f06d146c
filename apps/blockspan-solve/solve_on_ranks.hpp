#pragma once

#include <cmath>
#include <vector>

#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-solve/solve_impl.hpp"
#include "common/on_ranks.hpp"

namespace blockspan::apps {

namespace detail {

/// ||b - A x|| / ||b|| and ||b|| of every column; B becomes the residuals.
template <class Scalar, class Exec>
ColumnCheck check_on_ranks(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                           Block<Scalar, Exec> const& B, Block<Scalar, Exec> const& X) {
  auto const k = X.extent(1);
  Workspace<Exec> workspace(A.row_space());
  Kokkos::View<double*, Kokkos::HostSpace> const r("r", k), b("b", k);
  column_norms(exec, B, b, workspace);
  auto const image =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::check", X.extent(0), X.extent(1));
  A.apply(exec, X, image);
  SmallMatrix<Scalar> const minus("Blockspan::check", k, k);
  for (std::size_t j = 0; j < k; ++j) minus(j, j) = -1;
  combine(exec, Scalar(1), image, minus, Scalar(1), B);
  column_norms(exec, B, r, workspace);
  ColumnCheck result;
  for (std::size_t j = 0; j < k; ++j) {
    result.residual.push_back(b(j) > 0 ? r(j) / b(j) : r(j));
    result.rhs_norms.push_back(b(j));
  }
  return result;
}

inline void require_for_ranks(SolveCommand const& command) {
  char const* const only = "runs on one rank only";
  require(command.precision != "mixed", "--precision mixed", only);
  require(command.machine.spmm != "cusparse" && command.machine.spmm != "kokkos-kernels",
          "--spmm " + command.machine.spmm, only);
}

}  // namespace detail

/// The same as solve() with the rows spread over ranks. The result is rank 0's to show.
template <class Scalar, class Exec>
SolveResult solve_on_ranks(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                           OutputFile* solution, Communicator const& ranks) {
  ranks.together([&] { detail::require_for_ranks(command); });
  SolveResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  auto const A = load_on_ranks<Scalar>(exec, ranks, command.matrix, result.notes);
  auto const rows = A->row_space();
  std::int64_t const n = A->local_rows();
  auto B = load_rows<Scalar>(exec, rows, n, command.rhs);
  if (command.rhs.empty()) {
    B = detail::new_block<Scalar>(exec, "Blockspan::right_hand_sides", n, command.columns);
    fill_random(exec, B, command.seed, 0, rows.first_row());
  }
  auto const k = static_cast<std::int64_t>(B.extent(1));
  auto X = load_rows<Scalar>(exec, rows, n, command.guess);
  if (command.guess.empty())
    X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::solution", n, k);
  Workspace<Exec> workspace(rows);
  Block<Scalar, Exec> N;
  if (command.null_space == "constant") {
    N = detail::new_block<Scalar>(exec, "Blockspan::null_space", n, 1);
    Kokkos::deep_copy(exec, N, Scalar(1));
  } else {
    N = load_rows<Scalar>(exec, rows, n, command.null_space);
  }
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.columns = static_cast<int>(k);
  SpmmPlanOptions plan{.columns = result.columns};
  if (command.machine.spmm != "blockspan") plan.algorithm = command.machine.spmm;
  DistributedOperator<Scalar, Exec> const product(exec, A, plan);
  auto options = detail::solver_options<Scalar, Exec>(command);
  auto const M = make_preconditioner_on_ranks<Scalar>(
      exec, command.preconditioner_choice, command.preconditioner, product, Definiteness::positive);
  options.preconditioner = M.op.get();
  options.null_space = N;
  result.notes.insert(result.notes.end(), M.notes.begin(), M.notes.end());
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  options.monitor = [&](CgProgress<double> const& now) {
    progress.iteration(now.iteration, now.converged, now.residuals, command.tolerance);
    return !InterruptGuard::interrupted();
  };
  result.solver = solve_spd(exec, product, B, X, options);
  lap();

  progress.stage("checking the residuals");
  if (N.extent(1) > 0) {
    orthonormalize(exec, N, workspace);
    for (int pass = 0; pass < 2; ++pass) project_out(exec, N, N, B, workspace);
  }
  auto const check = detail::check_on_ranks<Scalar, Exec>(exec, product, B, X);
  result.true_residuals = check.residual;
  result.rhs_norms = check.rhs_norms;
  result.seconds.check = lap();
  if (!command.solution.empty()) {
    progress.stage("writing " + command.solution);
    auto const whole = gather_rows(rows, X);
    ranks.together([&] {
      if (solution == nullptr) return;
      write_block(solution->temporary().string(), whole);
      solution->commit();
    });
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = rows.global_rows(n);
  result.nonzeros = A->nonzeros();
  result.product = product.plan(DistributedMatrix<Scalar, Exec>::interior)
                       .kernel(result.columns, sizeof(Scalar));
  result.product_reason = "of the rows that need no others";
  result.ranks = report_of_ranks(*A);
  if (M.op) result.preconditioner = M.op->name();
  judge(result, command);
  return result;
}

}  // namespace blockspan::apps
