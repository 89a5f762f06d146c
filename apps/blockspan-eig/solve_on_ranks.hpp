#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <blockspan/support/memory.hpp>

#include "blockspan-eig/solve_impl.hpp"
#include "common/on_ranks.hpp"

namespace blockspan::apps {

namespace detail {

/// Solves in the precision that the command asks for; M, mass: null for the identity.
template <class Scalar, class Exec>
LobpcgMixedReport<double> run_on_ranks(Exec const& exec, EigCommand const& command,
                                       DistributedMatrix<Scalar, Exec> const* M,
                                       DistributedOperator<Scalar, Exec> const& product,
                                       DistributedOperator<Scalar, Exec> const* mass,
                                       SpmmPlanOptions const& plan, Block<Scalar, Exec> const& X,
                                       LobpcgOptions<Scalar, Exec> const& options) {
  if constexpr (has_single_precision<Scalar>)
    if (command.precision == "mixed") {
      using Single = SingleOnRanks<Scalar, Exec>;
      Single const a(exec, product.matrix(), plan);
      std::optional<Single> b;
      if (M) b.emplace(exec, *M, plan);
      auto const T = make_preconditioner_on_ranks<single_t<Scalar>>(
          exec, command.preconditioner_choice, command.preconditioner, a.op, Definiteness::any);
      LobpcgSingleOperators<Scalar, Exec> const single{a.op, b ? &b->op : nullptr, T.op.get(),
                                                       a.factor / (b ? b->factor : 1)};
      return mass ? lobpcg_mixed(exec, single, product, *mass, X, options)
                  : lobpcg_mixed(exec, single, product, X, options);
    }
  return {mass ? lobpcg(exec, product, *mass, X, options) : lobpcg(exec, product, X, options), {}};
}

}  // namespace detail

/// The same as solve() with the rows spread over ranks. The result is rank 0's to show.
template <class Scalar, class Exec>
EigResult solve_on_ranks(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                         OutputFile* vectors, Communicator const& ranks) {
  auto plan = ranks.together([&] {
    require_precision<Scalar>(command.precision, command.machine.spmm,
                              command.preconditioner_choice);
    auto const& partition = command.machine.partition;
    require_order(partition, command.preconditioner_choice);
    require_consecutive_rows(partition, !command.checkpoint.empty() || !command.resume.empty(),
                             "a checkpoint");
    return plan_on_ranks(command.machine.spmm);
  });
  auto options = detail::solver_options<Scalar, Exec>(command);
  ranks.together([&] {
    if (ranks.rank() == 0 && !options.resume.empty()) options.resume = input_file(options.resume);
  });
  EigResult result;
  Lap lap;
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Operator = DistributedOperator<Scalar, Exec>;
  progress.stage("loading " + command.matrix);
  auto A = load_on_ranks<Scalar>(exec, ranks, command.matrix, command.symmetrize, result.notes,
                                 command.operator_kind);
  std::shared_ptr<Matrix const> M;
  if (!command.mass.empty())
    M = load_on_ranks<Scalar>(exec, ranks, command.mass, command.symmetrize, result.notes, "matrix",
                              &A->partition());
  auto const new_order = order_rows(exec, command.machine.partition, command.matrix, *A);
  if (new_order) A = reorder(exec, *A, *new_order);
  if (new_order && M) M = reorder(exec, *M, *new_order);
  SpreadRows const rows{A->row_space(), new_order};
  std::int64_t const n = A->local_rows(), order = A->partition().global_rows();
  auto const initial = load_rows<Scalar>(exec, rows, command.initial);
  auto const constraints = load_rows<Scalar>(exec, rows, command.constraints);
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.block = command.block_columns(order);
  plan.columns = result.block;
  Operator const product(exec, A, plan);
  std::unique_ptr<Operator const> mass;
  if (M) mass = std::make_unique<Operator const>(exec, M, plan);
  auto choice = command.preconditioner_choice;
  choice.columns = result.block;
  auto T = make_preconditioner_on_ranks<Scalar>(exec, choice, command.preconditioner, product,
                                                Definiteness::any);
  options.preconditioner = T.op.get();
  auto const X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors", n,
                                                     command.vector_columns(order));
  options.guess_columns = static_cast<int>(initial.extent(1));
  if (options.guess_columns > 0)
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(0, options.guess_columns)),
                      initial);
  options.constraints = constraints;
  if (command.certify && M) options.mass_lower_bound = std::max(0.0, M->eigenvalue_lower_bound());
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  Observer observer(command, progress, ranks.rank() == 0);
  LateSwitch late(command.tolerance);
  options.monitor = [&](LobpcgProgress<double> const& now) {
    bool const goes_on = observer(now);
    auto const& errors = now.backward_errors;
    auto const count = std::min(errors.size(), static_cast<std::size_t>(now.wanted));
    return !late.due(std::span(errors.data(), count), T.late_setup) && goes_on;
  };
  auto const run = [&] {
    result.solver = detail::run_on_ranks<Scalar, Exec>(exec, command, M.get(), product, mass.get(),
                                                       plan, X, options);
    lap();
  };
  run();
  if (ranks.any(late.late()) && result.solver.status == Status::stopped_by_monitor &&
      !ranks.any(InterruptGuard::interrupted())) {
    detail::take_over(make_good_multigrid_on_ranks<Scalar>(exec, choice, product),
                      result.solver.iterations, T);
    result.seconds.setup += lap();
    options.preconditioner = T.op.get();
    options.guess_columns = static_cast<int>(X.extent(1));
    run();
  }
  result.notes.insert(result.notes.end(), T.notes.begin(), T.notes.end());
  result.levels = T.levels;

  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
  progress.stage("checking the residuals");
  result.check = check_residuals<Scalar, Exec>(exec, product, mass.get(), X, constraints,
                                               result.solver.eigenvalues, result.solver.norm_a,
                                               result.solver.norm_b);
  result.seconds.check = lap();
  if (!command.vectors.empty()) {
    progress.stage("writing " + command.vectors);
    if (auto const fault = write_rows<Scalar, Exec>(rows, X, command.pairs, vectors))
      result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = order;
  result.nonzeros = A->nonzeros();
  result.mass_nonzeros = M ? M->nonzeros() : 0;
  result.product = product.plan(Matrix::interior).kernel(result.block, sizeof(Scalar));
  result.product_reason = "of the rows that need no others";
  result.ranks = report_of_ranks(exec, *A, result.block, command.machine.partition);
  if (T.op) result.preconditioner = T.op->name();
  judge(result, command, observer);
  return result;
}

}  // namespace blockspan::apps
