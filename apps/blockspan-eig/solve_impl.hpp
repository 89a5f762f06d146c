#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/support/memory.hpp>

#include "blockspan-eig/check.hpp"
#include "blockspan-eig/exact_impl.hpp"
#include "blockspan-eig/lowest_impl.hpp"
#include "blockspan-eig/notes.hpp"
#include "blockspan-eig/solve.hpp"
#include "common/problem/describe_run.hpp"
#include "common/problem/precision.hpp"
#include "common/problem/preconditioner.hpp"
#include "common/problem/products.hpp"
#include "common/ranks/row_orders.hpp"
#include "common/ranks/spread.hpp"
#include "common/ranks/spread_rows.hpp"
#include "common/run/interrupt.hpp"
#include "common/run/lap.hpp"

namespace blockspan::apps {

namespace eigen_run {

template <class Scalar, class Exec>
LobpcgOptions<Scalar, Exec> solver_options(EigCommand const& command) {
  LobpcgOptions<Scalar, Exec> options;
  options.wanted = command.pairs;
  options.which = command.which == "largest" ? Which::largest : Which::smallest;
  options.tolerance = command.tolerance;
  options.criterion = command.criterion == "relative"   ? Criterion::relative
                      : command.criterion == "backward" ? Criterion::backward
                                                        : Criterion::digits;
  options.digits = command.digits;
  options.path = command.path == "dense"       ? SolvePath::dense
                 : command.path == "iterative" ? SolvePath::iterative
                                               : SolvePath::automatic;
  options.max_iterations = command.max_iterations;
  options.seed = command.seed;
  options.time_phases = true;
  options.widest_block = command.block;  // a block asked for stays as it is; 0: it may grow
  options.block = command.block < command.pairs ? command.block : 0;
  options.time_limit = command.time_limit;
  options.checkpoint = command.checkpoint;
  options.resume = command.resume;
  options.certify = command.certify;
  return options;
}

/// Throws Error, before anything is loaded, where the command asks for what this build, backend or
/// number of ranks does not have.
template <class Scalar, class Exec>
void refuse(EigCommand const& command, int ranks) {
  auto const &spmm = command.machine.spmm, &partition = command.machine.partition;
  require_product<Exec>(spmm, ranks);
  require_precision<Scalar>(command.precision, spmm, command.preconditioner_choice);
  if (command.exact) require_factors(command.exact);
  if (ranks == 1) return;
  require_order(partition, command.preconditioner_choice);
  require_consecutive_rows(partition, !command.checkpoint.empty() || !command.resume.empty(),
                           "a checkpoint");
}

/// A x = lambda M x, and what is known of it.
template <class Scalar, class Exec>
struct EigProblem {
  using Matrix = DistributedMatrix<Scalar, Exec>;

  std::shared_ptr<Matrix const> A, M;  ///< M: null for the identity
  SpreadRows rows;
  Block<Scalar, Exec> initial, constraints;  ///< no columns: none

  std::int64_t order() const { return A->partition().global_rows(); }
};

template <class Scalar, class Exec>
EigProblem<Scalar, Exec> load(Exec const& exec, EigCommand const& command,
                              Communicator const& ranks, std::vector<std::string>& notes) {
  EigProblem<Scalar, Exec> problem;
  auto& [A, M, rows, initial, constraints] = problem;
  A = load_hermitian<Scalar>(exec, ranks, command.matrix, command.symmetrize, notes,
                             command.operator_kind);
  if (!command.mass.empty())
    M = load_hermitian<Scalar>(exec, ranks, command.mass, command.symmetrize, notes, "matrix",
                               &A->partition());
  auto const order = order_rows(exec, command.machine.partition, command.matrix, *A);
  if (order) A = reorder(exec, *A, *order);
  if (order && M) M = reorder(exec, *M, *order);
  rows = {A->row_space(), order};
  initial = load_rows<Scalar>(exec, rows, command.initial);
  constraints = load_rows<Scalar>(exec, rows, command.constraints);
  exec.fence("Blockspan::load");
  return problem;
}

/// What solves the problem.
template <class Scalar, class Exec>
struct EigSetup {
  Product<Scalar, Exec> product, mass;
  PreconditionerInput<Scalar, Exec> input;
  Preconditioner<Scalar, Exec> T;
  LobpcgOptions<Scalar, Exec> options;
  Block<Scalar, Exec> X;  ///< what is found
};

template <class Scalar, class Exec>
EigSetup<Scalar, Exec> set_up(Exec const& exec, EigCommand const& command,
                              EigProblem<Scalar, Exec> const& problem) {
  auto const &A = problem.A, &M = problem.M;
  auto const& initial = problem.initial;
  int const block = command.block_columns(problem.order());
  EigSetup<Scalar, Exec> setup;
  auto& options = setup.options;
  setup.product = make_product<Scalar>(exec, A, command.machine.spmm, block);
  if (M) setup.mass = make_product<Scalar>(exec, M, command.machine.spmm, block);
  setup.input = preconditioner_input<Scalar, Exec>(exec, SolveKind::eigenpairs, A,
                                                   *setup.product.op, block, M.get());
  setup.input.tolerance = command.resume.empty() ? command.tolerance : 0;
  setup.T = make_preconditioner(setup.input, command.preconditioner_choice);
  options = solver_options<Scalar, Exec>(command);
  options.resume = input_of_first(problem.rows.space.communicator(), options.resume);
  options.preconditioner = setup.T.op.get();
  auto const X = allocate_zeros<Block<Scalar, Exec>>(
      exec, "Blockspan::eigenvectors", A->local_rows(), command.vector_columns(problem.order()));
  options.guess_columns = static_cast<int>(initial.extent(1));
  if (options.guess_columns > 0)
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(0, options.guess_columns)),
                      initial);
  setup.X = X;
  options.constraints = problem.constraints;
  if (command.certify && M) options.mass_lower_bound = std::max(0.0, M->eigenvalue_lower_bound());
  exec.fence("Blockspan::setup");
  return setup;
}

/// Solves in the precision that the command asks for.
template <class Scalar, class Exec>
LobpcgMixedReport<double> run(Exec const& exec, EigCommand const& command,
                              EigProblem<Scalar, Exec> const& problem,
                              EigSetup<Scalar, Exec> const& setup) {
  auto const& [product, mass, input, T, options, X] = setup;
  auto const &a = *product.op, *const b = mass.op.get();
  if constexpr (has_single_precision<Scalar>)
    if (command.precision == "mixed") {
      using Single = SingleProduct<Scalar, Exec>;
      Single const A(exec, *problem.A, input.columns);
      std::optional<Single> M;
      if (problem.M) M.emplace(exec, *problem.M, input.columns);
      auto const single_input = preconditioner_input<single_t<Scalar>, Exec>(
          exec, SolveKind::eigenpairs, A.A, A.op, input.columns);
      auto const t = make_preconditioner(single_input, command.preconditioner_choice);
      LobpcgSingleOperators<Scalar, Exec> const single{A.op, M ? &M->op : nullptr, t.op.get(),
                                                       A.factor / (M ? M->factor : 1)};
      return b ? lobpcg_mixed(exec, single, a, *b, X, options)
               : lobpcg_mixed(exec, single, a, X, options);
    }
  return {b ? lobpcg(exec, a, *b, X, options) : lobpcg(exec, a, X, options), {}};
}

/// Runs, and once more with the preconditioner that `automatic` changes over to on the way.
template <class Scalar, class Exec>
void iterate(Exec const& exec, EigCommand const& command, EigProblem<Scalar, Exec> const& problem,
             EigSetup<Scalar, Exec>& setup, Observer& observer, Lap& lap, EigResult& result) {
  auto& T = setup.T;
  auto& options = setup.options;
  Communicator const ranks = problem.rows.space.communicator();
  auto late = begin_with(setup.input, command.preconditioner_choice, command.tolerance, T);
  options.preconditioner = T.op.get();
  result.seconds.setup += lap();
  options.monitor = [&](LobpcgProgress<double> const& now) {
    bool const goes_on = observer(now);
    auto const& errors = now.backward_errors;
    auto const count = std::min(errors.size(), static_cast<std::size_t>(now.wanted));
    return !late.due(std::span(errors.data(), count), now.iteration) && goes_on;
  };
  result.solver = run(exec, command, problem, setup);
  lap();
  if (ranks.any(late.late()) && result.solver.status == Status::stopped_by_monitor &&
      !ranks.any(InterruptGuard::interrupted())) {
    switch_late(setup.input, command.preconditioner_choice, late, result.solver.iterations, T);
    double const changing = lap();
    auto const before = std::move(result.solver);
    result.seconds.setup += changing;
    options.preconditioner = T.op.get();
    options.continue_from(static_cast<int>(setup.X.extent(1)));
    options.resume.clear();
    options.max_iterations = std::max(0, options.max_iterations - before.iterations);
    options.time_limit = std::max(0.0, options.time_limit - changing - before.seconds.total);
    result.solver = run(exec, command, problem, setup);
    result.solver.put_before(before);
    lap();
  }
  result.notes.insert(result.notes.end(), T.notes.begin(), T.notes.end());
  result.levels = T.levels;
  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
}

/// Residuals by products without a plan, where one rank has the matrices.
template <class Scalar, class Exec>
ResidualCheck check(Exec const& exec, EigProblem<Scalar, Exec> const& problem,
                    EigSetup<Scalar, Exec> const& setup, LobpcgMixedReport<double> const& solved) {
  auto const A = plain_product(*problem.A, setup.product);
  std::shared_ptr<LinearOperator<Scalar, Exec> const> M;
  if (problem.M) M = plain_product(*problem.M, setup.mass);
  return check_residuals<Scalar, Exec>(exec, *A, M.get(), setup.X, problem.constraints,
                                       solved.eigenvalues, solved.norm_a, solved.norm_b);
}

/// The rest of what factors have answered: no preconditioner, no block of guesses. X: what is
/// found.
template <class Scalar, class Exec>
EigResult finish_factors(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                         OutputFile* vectors, EigProblem<Scalar, Exec> const& problem,
                         Block<Scalar, Exec> const& X, EigResult result, Lap& lap) {
  EigSetup<Scalar, Exec> setup;
  setup.product = make_product<Scalar>(exec, problem.A, command.machine.spmm, 8);
  if (problem.M) setup.mass = make_product<Scalar>(exec, problem.M, command.machine.spmm, 8);
  result.seconds.setup = lap();
  setup.X = X;
  result.mass_nonzeros = problem.M ? problem.M->nonzeros() : 0;
  result.block = command.block > 0 ? command.block : 8;
  describe_run(exec, *problem.A, setup.product, setup.T, result.block, command.machine.partition,
               result);
  auto const pairs = static_cast<int>(result.solver.eigenvalues.size());
  if (pairs > 0) {
    progress.stage("checking the residuals");
    result.check = check(exec, problem, setup, result.solver);
    result.seconds.check = lap();
    if (!command.vectors.empty())
      if (auto const fault = write_rows<Scalar, Exec>(problem.rows, setup.X, pairs, vectors))
        result.lost.push_back(*fault);
    result.seconds.output = lap();
  }
  judge(result, command,
        Observer(command, progress, problem.rows.space.communicator().rank() == 0));
  return result;
}

/// What factors answer, where these are asked for or the better way; else nothing.
template <class Scalar, class Exec>
std::optional<EigResult> solve_by_factors(Exec const& exec, EigCommand const& command,
                                          ProgressLine& progress, OutputFile* vectors,
                                          EigProblem<Scalar, Exec> const& problem,
                                          EigResult& result, Lap& lap) {
  auto const& A = *problem.A;
  auto const* const M = problem.M.get();
  std::optional<Block<Scalar, Exec>> X;
  if (command.exact) {
    progress.stage("factoring");
    X = solve_exact<Scalar>(exec, command, A, M, progress, result);
  } else {
    X = lowest_by_factors<Scalar>(exec, command, A, M, progress, result);
  }
  if (!X) return {};
  lap();
  return finish_factors<Scalar>(exec, command, progress, vectors, problem, *X, std::move(result),
                                lap);
}

}  // namespace eigen_run

template <class Scalar, class Exec>
EigResult solve(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                OutputFile* vectors, Communicator const& ranks) {
  ranks.run_agreed([&] { eigen_run::refuse<Scalar, Exec>(command, ranks.size()); });
  EigResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  auto const problem = eigen_run::load<Scalar>(exec, command, ranks, result.notes);
  result.seconds.load = lap();

  if (auto found = eigen_run::solve_by_factors<Scalar>(exec, command, progress, vectors, problem,
                                                       result, lap))
    return std::move(*found);
  progress.stage("preparing the sparse product");
  auto setup = eigen_run::set_up<Scalar>(exec, command, problem);
  result.seconds.setup = lap();

  Observer observer(command, progress, ranks.rank() == 0);
  eigen_run::iterate(exec, command, problem, setup, observer, lap, result);

  progress.stage("checking the residuals");
  result.check = eigen_run::check(exec, problem, setup, result.solver);
  result.seconds.check = lap();
  if (!command.vectors.empty()) {
    progress.stage("writing " + command.vectors);
    if (auto const fault = write_rows<Scalar, Exec>(problem.rows, setup.X, command.pairs, vectors))
      result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.mass_nonzeros = problem.M ? problem.M->nonzeros() : 0;
  result.block = setup.input.columns;
  describe_run(exec, *problem.A, setup.product, setup.T, result.block, command.machine.partition,
               result);
  judge(result, command, observer);
  if (command.certify) progress.stage("counting");
  double const seen = observer.next_eigenvalue();
  certify_count(exec, command, *problem.A, problem.M.get(),
                std::isfinite(seen) ? seen : result.solver.next_eigenvalue, result);
  return result;
}

}  // namespace blockspan::apps
