#pragma once

#include <algorithm>
#include <memory>

#include <blockspan/solvers/single_precision.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-solve/solve_impl.hpp"
#include "common/on_ranks.hpp"

namespace blockspan::apps {

namespace detail {

/// The inner solver of --precision mixed, and what it refers to; null for `working`.
template <class Scalar, class Exec>
std::shared_ptr<CorrectionSolver<Scalar, Exec> const> inner_solver_on_ranks(
    Exec const& exec, SolveCommand const& command, DistributedMatrix<Scalar, Exec> const& A,
    SpmmPlanOptions const& plan) {
  if constexpr (has_single_precision<Scalar>)
    if (command.precision == "mixed") {
      struct Setup {
        SingleOnRanks<Scalar, Exec> a;
        Preconditioner<single_t<Scalar>, Exec> m;
        SinglePrecision<Scalar, Exec> solver;
        Setup(Exec const& exec, SolveCommand const& command,
              DistributedMatrix<Scalar, Exec> const& A, SpmmPlanOptions const& plan)
            : a(exec, A, plan),
              m(make_preconditioner_on_ranks<single_t<Scalar>>(exec, command.preconditioner_choice,
                                                               command.preconditioner, a.op,
                                                               Definiteness::positive)),
              solver(a.op, m.op.get(), a.factor) {}
      };
      auto const setup = std::make_shared<Setup>(exec, command, A, plan);
      return {setup, &setup->solver};
    }
  return nullptr;
}

}  // namespace detail

/// The same as solve() with the rows spread over ranks. The result is rank 0's to show.
template <class Scalar, class Exec>
SolveResult solve_on_ranks(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                           OutputFile* solution, Communicator const& ranks) {
  auto plan = ranks.together([&] {
    require_precision<Scalar>(command.precision, command.machine.spmm,
                              command.preconditioner_choice);
    require_order(command.machine.partition, command.preconditioner_choice);
    return plan_on_ranks(command.machine.spmm);
  });
  SolveResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  auto A = load_on_ranks<Scalar>(exec, ranks, command.matrix, command.symmetrize, result.notes);
  auto const order = order_rows(exec, command.machine.partition, command.matrix, *A);
  if (order) A = reorder(exec, *A, *order);
  SpreadRows const rows{A->row_space(), order};
  std::int64_t const n = A->local_rows();
  auto B = load_rows<Scalar>(exec, rows, command.rhs);
  if (command.rhs.empty()) {
    auto const callers = rows.callers();
    B = detail::new_block<Scalar>(exec, "Blockspan::right_hand_sides", SpreadRows::here(callers),
                                  command.columns);
    fill_random(exec, B, command.seed, 0, callers.first_row());
    B = in_order<Scalar, Exec>(exec, rows, B);
  }
  auto const k = static_cast<std::int64_t>(B.extent(1));
  auto X = load_rows<Scalar>(exec, rows, command.guess);
  if (command.guess.empty())
    X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::solution", n, k);
  Workspace<Exec> workspace(rows.space);
  Block<Scalar, Exec> N;
  if (command.null_space == "constant") {
    N = detail::new_block<Scalar>(exec, "Blockspan::null_space", n, 1);
    Kokkos::deep_copy(exec, N, Scalar(1));
  } else {
    N = load_rows<Scalar>(exec, rows, command.null_space);
  }
  N = detail::null_basis<Scalar>(exec, command, N, workspace);
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.columns = static_cast<int>(k);
  plan.columns = result.columns;
  DistributedOperator<Scalar, Exec> const product(exec, A, plan);
  auto options = detail::solver_options<Scalar, Exec>(command);
  auto choice = command.preconditioner_choice;
  choice.columns = result.columns;
  auto M = make_preconditioner_on_ranks<Scalar>(exec, choice, command.preconditioner, product,
                                                Definiteness::positive);
  options.preconditioner = M.op.get();
  auto const inner = detail::inner_solver_on_ranks<Scalar, Exec>(exec, command, *A, plan);
  options.inner = inner.get();
  options.null_space = N;
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  LateSwitch late(command.tolerance);
  options.monitor = [&](CgProgress<double> const& now) {
    progress.iteration(now.iteration, now.converged, now.residuals, command.tolerance);
    return !late.due(now.residuals, M.late_setup) && !InterruptGuard::interrupted();
  };
  result.solver = solve_spd(exec, product, B, X, options);
  lap();
  if constexpr (sizeof(real_t<Scalar>) == sizeof(double))
    if (ranks.any(late.late()) && !ranks.any(InterruptGuard::interrupted())) {
      detail::take_over(make_good_multigrid_on_ranks<Scalar>(exec, choice, product),
                        result.solver.iterations, M);
      result.seconds.setup += lap();
      options.preconditioner = M.op.get();
      options.use_guess = true;
      result.solver = solve_spd(exec, product, B, X, options);
      lap();
    }
  result.notes.insert(result.notes.end(), M.notes.begin(), M.notes.end());
  result.levels = M.levels;

  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
  progress.stage("checking the residuals");
  auto const check = check_residuals<Scalar, Exec>(
      exec, rows.space,
      [&](Block<Scalar, Exec> const& Y, Block<Scalar, Exec> const& R) {
        product.subtract_accurately(exec, Y, R);
      },
      0, N, B, X);
  result.true_residuals = check.residual;
  result.rhs_norms = check.rhs_norms;
  result.seconds.check = lap();
  if (!command.solution.empty()) {
    progress.stage("writing " + command.solution);
    if (auto const fault = write_rows<Scalar, Exec>(rows, X, result.columns, solution))
      result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = A->partition().global_rows();
  result.nonzeros = A->nonzeros();
  result.product = product.plan(DistributedMatrix<Scalar, Exec>::interior)
                       .kernel(result.columns, sizeof(Scalar));
  result.product_reason = "of the rows that need no others";
  result.ranks = report_of_ranks(exec, *A, result.columns, command.machine.partition);
  if (M.op) result.preconditioner = M.op->name();
  judge(result, command);
  return result;
}

}  // namespace blockspan::apps
