#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/solvers/single_precision.hpp>
#include <blockspan/sparse/dirichlet.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-solve/check.hpp"
#include "blockspan-solve/judge.hpp"
#include "blockspan-solve/scaled_matrix.hpp"
#include "blockspan-solve/solve.hpp"
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

namespace system_run {

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
                                     SpreadRows const& rows) {
  if (!command.rhs.empty()) return load_rows<Scalar>(exec, rows, command.rhs);
  auto const callers = rows.callers();
  auto const B = new_block<Scalar>(exec, "Blockspan::right_hand_sides", SpreadRows::here(callers),
                                   command.columns);
  fill_random(exec, B, command.seed, 0, callers.first_row());
  return in_order<Scalar, Exec>(exec, rows, B);
}

/// An orthonormal basis of N, vectors of --null-space, in its place; no columns where it has none.
template <class Scalar, class Exec>
Block<Scalar, Exec> null_basis(Exec const& exec, SolveCommand const& command,
                               Block<Scalar, Exec> const& N, Workspace<Exec>& workspace) {
  if (N.extent(1) == 0) return {};
  int const rank = orthonormalize(exec, N, workspace).rank;
  std::int64_t const rows = workspace.rows().global_rows(static_cast<std::int64_t>(N.extent(0)));
  workspace.rows().communicator().run_agreed([&] {
    require(rows == 0 || rank > 0, "--null-space", command.null_space,
            " has no vector that is finite and not zero");
  });
  return Kokkos::subview(N, Kokkos::ALL, std::pair(0, rank));
}

/// Orthonormal vectors of --null-space; no columns where there is none.
template <class Scalar, class Exec>
Block<Scalar, Exec> null_space(Exec const& exec, SolveCommand const& command,
                               SpreadRows const& rows) {
  Block<Scalar, Exec> N;
  if (command.null_space == "constant") {
    N = new_block<Scalar>(exec, "Blockspan::null_space", rows.local(), 1);
    Kokkos::deep_copy(exec, N, Scalar(1));
  } else {
    N = load_rows<Scalar>(exec, rows, command.null_space);
  }
  Workspace<Exec> workspace(rows.space);
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

/// Columns of X that the format cannot hold become zero.
template <class Scalar, class Exec>
void drop_overflow(Exec const& exec, std::vector<double> const& residuals,
                   Block<Scalar, Exec> const& X) {
  for (std::size_t j = 0; j < residuals.size(); ++j)
    if (!std::isfinite(residuals[j]))
      Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, j), Scalar(0));
  exec.fence("Blockspan::drop_overflow");
}

/// What the solver says of 2^exponent A, said of A.
inline void note_scale(SolveResult& result, int exponent) {
  result.exponent = exponent;
  if (exponent == 0) return;
  result.solver.norm_a = std::ldexp(result.solver.norm_a, -exponent);
  result.notes.push_back("the matrix was scaled by 2^" + std::to_string(exponent) +
                         " for the solve, since its values are near the ends of the range");
}

/// Throws Error, before anything is loaded, where the command asks for what this build, backend or
/// number of ranks does not have.
template <class Scalar, class Exec>
void refuse(SolveCommand const& command, int ranks) {
  require_product<Exec>(command.machine.spmm, ranks);
  require_precision<Scalar>(command.precision, command.machine.spmm, command.preconditioner_choice);
  if (ranks > 1) require_order(command.machine.partition, command.preconditioner_choice);
}

/// 2^exponent A X = B.
template <class Scalar, class Exec>
struct LinearSystem {
  std::shared_ptr<DistributedMatrix<Scalar, Exec> const> A;
  int exponent = 0;  ///< A is 2^exponent times the matrix of the command
  SpreadRows rows;
  Block<Scalar, Exec> B, X, N;  ///< right-hand sides; the guess, then the solution; null space
  /// What A was made of, where it was not symmetric; B is that of the smaller system then.
  std::optional<DirichletElimination<Scalar, Exec>> dirichlet = {};

  std::int64_t columns() const { return static_cast<std::int64_t>(B.extent(1)); }
};

inline std::string dirichlet_note(std::string const& source, std::int64_t rows,
                                  std::int64_t entries) {
  return source + ": " + grouped(rows) + (rows == 1 ? " row holds" : " rows hold") +
         " nothing but a diagonal, and other rows have " + grouped(entries) +
         (entries == 1 ? " entry" : " entries") +
         " in their columns, as MatZeroRows of PETSc leaves them: these unknowns were "
         "eliminated, and residuals are those of the system that is left";
}

/// B -= the kept columns times the unknowns that are known.
template <class Scalar, class Exec>
void take_known_from(Exec const& exec, DirichletElimination<Scalar, Exec> const& dirichlet,
                     Block<Scalar, Exec> const& B) {
  auto const known = new_block<Scalar>(exec, "Blockspan::known", B.extent(0), B.extent(1));
  dirichlet.known(exec, B, known);
  blockspan::operators::subtract_product<Exec, Scalar>(
      exec, blockspan::sparse::matrix_ref<Exec>(dirichlet.kept),
      blockspan::blocks::block_ref<Exec>(known), blockspan::blocks::block_ref<Exec>(B));
  exec.fence("Blockspan::take_known_from");
}

template <class Scalar, class Exec>
LinearSystem<Scalar, Exec> load(Exec const& exec, SolveCommand const& command,
                                Communicator const& ranks, std::vector<std::string>& notes) {
  LinearSystem<Scalar, Exec> system;
  auto& A = system.A;
  auto const eliminate = [&]<class Matrix>(Matrix const& given) -> std::optional<Matrix> {
    if (ranks.size() > 1) return {};
    auto parts = eliminate_dirichlet(exec, given);
    if (!parts || !find_asymmetry(exec, parts->matrix)) return {};
    notes.push_back(dirichlet_note(command.matrix, parts->rows, parts->kept.nnz()));
    system.dirichlet = std::move(parts);
    return system.dirichlet->matrix;
  };
  A = load_hermitian<Scalar>(exec, ranks, command.matrix, command.symmetrize, notes, "matrix",
                             nullptr, eliminate);
  if (ranks.size() == 1) {
    auto const scaled = into_range<Scalar>(exec, A->whole());
    system.exponent = scaled.exponent;
    if (scaled.exponent != 0) A = distribute(exec, ranks, scaled.matrix);
  }
  auto const order = order_rows(exec, command.machine.partition, command.matrix, *A);
  if (order) A = reorder(exec, *A, *order);
  system.rows = {A->row_space(), order};
  system.B = right_hand_sides<Scalar>(exec, command, system.rows);
  if (system.dirichlet) take_known_from(exec, *system.dirichlet, system.B);
  system.X = load_rows<Scalar>(exec, system.rows, command.guess);
  if (command.guess.empty())
    system.X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::solution", system.rows.local(),
                                                   system.columns());
  scale_all(exec, -system.exponent, system.X);
  system.N = null_space<Scalar>(exec, command, system.rows);
  exec.fence("Blockspan::load");
  return system;
}

/// The inner solver of --precision mixed, and what it refers to; null for `working`.
template <class Scalar, class Exec>
std::shared_ptr<CorrectionSolver<Scalar, Exec> const> make_inner_solver(
    Exec const& exec, SolveCommand const& command, DistributedMatrix<Scalar, Exec> const& A,
    int columns) {
  if constexpr (has_single_precision<Scalar>)
    if (command.precision == "mixed") {
      struct Setup {
        SingleProduct<Scalar, Exec> a;
        Preconditioner<single_t<Scalar>, Exec> m;
        SinglePrecision<Scalar, Exec> solver;
        Setup(Exec const& exec, SolveCommand const& command,
              DistributedMatrix<Scalar, Exec> const& A, int columns)
            : a(exec, A, columns),
              m(make_preconditioner(preconditioner_input<single_t<Scalar>, Exec>(
                                        exec, SolveKind::system, a.A, a.op, columns),
                                    command.preconditioner_choice)),
              solver(a.op, m.op.get(), a.factor) {}
      };
      auto const setup = std::make_shared<Setup>(exec, command, A, columns);
      return {setup, &setup->solver};
    }
  return nullptr;
}

/// What solves the system.
template <class Scalar, class Exec>
struct SolveSetup {
  Product<Scalar, Exec> product;
  PreconditionerInput<Scalar, Exec> input;
  Preconditioner<Scalar, Exec> M;
  std::shared_ptr<CorrectionSolver<Scalar, Exec> const> inner;
  CgOptions<Scalar, Exec> options;
};

template <class Scalar, class Exec>
SolveSetup<Scalar, Exec> set_up(Exec const& exec, SolveCommand const& command,
                                LinearSystem<Scalar, Exec> const& system) {
  SolveSetup<Scalar, Exec> setup;
  int const columns = static_cast<int>(system.columns());
  setup.product = make_product<Scalar>(exec, system.A, command.machine.spmm, columns);
  setup.input = preconditioner_input<Scalar, Exec>(exec, SolveKind::system, system.A,
                                                   *setup.product.op, columns);
  if (command.guess.empty() && command.absolute_tolerance == 0)
    setup.input.tolerance = command.tolerance;
  setup.M = make_preconditioner(setup.input, command.preconditioner_choice);
  setup.inner = make_inner_solver(exec, command, *system.A, columns);
  setup.options = solver_options<Scalar, Exec>(command);
  setup.options.preconditioner = setup.M.op.get();
  setup.options.inner = setup.inner.get();
  setup.options.null_space = system.N;
  exec.fence("Blockspan::setup");
  return setup;
}

/// Solves, and goes on with the preconditioner that `automatic` changes over to on the way, or with
/// one that was mended.
template <class Scalar, class Exec>
void iterate(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
             LinearSystem<Scalar, Exec> const& system, SolveSetup<Scalar, Exec>& setup, Lap& lap,
             SolveResult& result) {
  auto& M = setup.M;
  auto& options = setup.options;
  Communicator const ranks = system.rows.space.communicator();
  auto late = begin_with(setup.input, command.preconditioner_choice, command.tolerance, M);
  options.preconditioner = M.op.get();
  result.seconds.setup += lap();
  options.monitor = [&](CgProgress<double> const& now) {
    progress.iteration(now.iteration, now.converged, now.residuals, command.tolerance);
    return !late.due(now.group_residuals(), now.group_iteration, now.groups_after()) &&
           !InterruptGuard::interrupted();
  };
  result.solver = solve_spd(exec, *setup.product.op, system.B, system.X, options);
  lap();
  auto const go_on = [&] {
    auto const before = std::move(result.solver);
    result.seconds.setup += lap();
    options.preconditioner = M.op.get();
    options.use_guess = true;
    options.max_iterations = std::max(0, command.max_iterations - before.most_iterations());
    result.solver = solve_spd(exec, *setup.product.op, system.B, system.X, options);
    result.solver.put_before(before);
    lap();
  };
  while (ranks.any(late.late()) && !ranks.any(InterruptGuard::interrupted())) {
    switch_late(setup.input, command.preconditioner_choice, late, result.solver.iterations, M);
    go_on();
  }
  if (result.solver.blames_preconditioner() && M.mend && M.mend(M)) go_on();
  result.notes.insert(result.notes.end(), M.notes.begin(), M.notes.end());
  result.levels = M.levels;
  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
}

/// The residuals of the solution, which is brought back into the range of the command's matrix.
template <class Scalar, class Exec>
void check(Exec const& exec, LinearSystem<Scalar, Exec> const& system,
           SolveSetup<Scalar, Exec> const& setup, SolveResult& result) {
  using Vectors = Block<Scalar, Exec>;
  auto const& A = *system.A;
  auto const subtract = [&](Vectors const& Y, Vectors const& R) {
    if (A.partition().ranks() > 1)
      setup.product.op->entries().subtract_accurately(exec, Y, R);
    else  // whatever product the solver used
      blockspan::operators::subtract_product<Exec, Scalar>(
          exec, blockspan::sparse::matrix_ref<Exec>(A.whole()),
          blockspan::blocks::block_ref<Exec>(Y), blockspan::blocks::block_ref<Exec>(R));
  };
  scale_all(exec, system.exponent, system.X);
  if (system.dirichlet) system.dirichlet->complete(exec, system.B, system.X);
  auto const found = check_residuals<Scalar, Exec>(exec, system.rows.space, subtract,
                                                   system.exponent, system.N, system.B, system.X);
  result.true_residuals = found.residual;
  result.rhs_norms = found.rhs_norms;
  drop_overflow(exec, found.residual, system.X);
}

}  // namespace system_run

template <class Scalar, class Exec>
SolveResult solve(Exec const& exec, SolveCommand const& command, ProgressLine& progress,
                  OutputFile* solution, Communicator const& ranks) {
  ranks.run_agreed([&] { system_run::refuse<Scalar, Exec>(command, ranks.size()); });
  SolveResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  auto const system = system_run::load<Scalar>(exec, command, ranks, result.notes);
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  auto setup = system_run::set_up(exec, command, system);
  result.seconds.setup = lap();

  system_run::iterate(exec, command, progress, system, setup, lap, result);

  progress.stage("checking the residuals");
  system_run::check(exec, system, setup, result);
  result.seconds.check = lap();
  if (!command.solution.empty()) {
    progress.stage("writing " + command.solution);
    if (auto const fault = write_rows<Scalar, Exec>(system.rows, system.X,
                                                    static_cast<int>(system.columns()), solution))
      result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.columns = setup.input.columns;
  describe_run(exec, *system.A, setup.product, setup.M, result.columns, command.machine.partition,
               result);
  system_run::note_scale(result, system.exponent);
  judge(result, command);
  return result;
}

}  // namespace blockspan::apps
