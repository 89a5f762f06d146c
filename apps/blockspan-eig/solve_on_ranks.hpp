#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <blockspan/support/memory.hpp>

#include "blockspan-eig/solve_impl.hpp"
#include "common/on_ranks.hpp"

namespace blockspan::apps {

namespace detail {

/// Residuals of the pairs from the operators themselves; M null: the identity.
template <class Scalar, class Exec>
ResidualCheck check_on_ranks(Exec const& exec, LinearOperator<Scalar, Exec> const& A,
                             LinearOperator<Scalar, Exec> const* M, Block<Scalar, Exec> const& X,
                             std::vector<double> const& eigenvalues, double norm_a, double norm_b) {
  auto const k = eigenvalues.size();
  Workspace<Exec> workspace(A.row_space());
  auto const block = [&] {
    return allocate<Block<Scalar, Exec>>(exec, "Blockspan::check", X.extent(0), k);
  };
  auto const R = block(), MX = block(), unit = block();
  Kokkos::deep_copy(exec, unit, Kokkos::subview(X, Kokkos::ALL, std::pair(std::size_t{0}, k)));
  A.apply(exec, unit, R);
  if (M != nullptr)
    M->apply(exec, unit, MX);
  else
    Kokkos::deep_copy(exec, MX, unit);
  SmallMatrix<Scalar> const minus_theta("Blockspan::check", k, k);
  for (std::size_t j = 0; j < k; ++j) minus_theta(j, j) = -eigenvalues[j];
  combine(exec, Scalar(1), MX, minus_theta, Scalar(1), R);
  Kokkos::View<double*, Kokkos::HostSpace> const r("r", k), x("x", k), mx("mx", k);
  column_norms(exec, R, r, workspace);
  column_norms(exec, unit, x, workspace);
  column_norms(exec, MX, mx, workspace);
  ResidualCheck check;
  for (std::size_t j = 0; j < k; ++j) {
    double const size = std::abs(eigenvalues[j]);
    check.backward.push_back(r(j) == 0 ? 0 : r(j) / ((norm_a + size * norm_b) * x(j)));
    check.relative.push_back(size > 0 ? r(j) / (size * mx(j))
                                      : std::numeric_limits<double>::infinity());
  }
  return check;
}

inline void require_for_ranks(EigCommand const& command) {
  char const* const only = "runs on one rank only";
  require(command.precision != "mixed", "--precision mixed", only);
  require(command.path != "dense", "--path dense", only);
  require(command.checkpoint.empty(), "--checkpoint", only);
  require(command.resume.empty(), "--resume", only);
  require(command.machine.spmm != "cusparse" && command.machine.spmm != "kokkos-kernels",
          "--spmm " + command.machine.spmm, only);
  require(command.constraints.empty(), "--constraints", only);
}

}  // namespace detail

/// The same as solve() with the rows spread over ranks. The result is rank 0's to show.
template <class Scalar, class Exec>
EigResult solve_on_ranks(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                         OutputFile* vectors, Communicator const& ranks) {
  ranks.together([&] { detail::require_for_ranks(command); });
  EigResult result;
  Lap lap;
  using Matrix = DistributedMatrix<Scalar, Exec>;
  using Operator = DistributedOperator<Scalar, Exec>;
  progress.stage("loading " + command.matrix);
  auto const A =
      load_on_ranks<Scalar>(exec, ranks, command.matrix, result.notes, command.operator_kind);
  std::shared_ptr<Matrix const> M;
  if (!command.mass.empty())
    M = load_on_ranks<Scalar>(exec, ranks, command.mass, result.notes, "matrix", &A->partition());
  auto const rows = A->row_space();
  std::int64_t const n = A->local_rows(), order = rows.global_rows(n);
  auto const initial = load_rows<Scalar>(exec, rows, n, command.initial);
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.block = command.block_columns(order);
  SpmmPlanOptions plan{.columns = result.block};
  if (command.machine.spmm != "blockspan") plan.algorithm = command.machine.spmm;
  Operator const product(exec, A, plan);
  std::unique_ptr<Operator const> mass;
  if (M) mass = std::make_unique<Operator const>(exec, M, plan);
  auto options = detail::solver_options<Scalar, Exec>(command);
  auto const T = make_preconditioner_on_ranks<Scalar>(
      exec, command.preconditioner_choice, command.preconditioner, product, Definiteness::any);
  options.preconditioner = T.op.get();
  result.notes.insert(result.notes.end(), T.notes.begin(), T.notes.end());
  auto const X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors", n,
                                                     command.vector_columns(order));
  options.guess_columns = static_cast<int>(initial.extent(1));
  if (options.guess_columns > 0)
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(0, options.guess_columns)),
                      initial);
  if (command.certify && M) options.mass_lower_bound = std::max(0.0, M->eigenvalue_lower_bound());
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  Observer observer(command, progress);
  options.monitor = [&](LobpcgProgress<double> const& now) { return observer(now); };
  result.solver = {
      mass ? lobpcg(exec, product, *mass, X, options) : lobpcg(exec, product, X, options), {}};
  lap();

  progress.stage("checking the residuals");
  result.check =
      detail::check_on_ranks<Scalar, Exec>(exec, product, mass.get(), X, result.solver.eigenvalues,
                                           result.solver.norm_a, result.solver.norm_b);
  result.seconds.check = lap();
  if (!command.vectors.empty()) {
    progress.stage("writing " + command.vectors);
    auto const whole = gather_rows(rows, X);
    ranks.together([&] {
      if (vectors == nullptr) return;
      write_block(vectors->temporary().string(),
                  Kokkos::subview(whole, Kokkos::ALL, std::pair(0, command.pairs)));
      vectors->commit();
    });
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = order;
  result.nonzeros = A->nonzeros();
  result.mass_nonzeros = M ? M->nonzeros() : 0;
  result.product = product.plan(Matrix::interior).kernel(result.block, sizeof(Scalar));
  result.product_reason = "of the rows that need no others";
  result.ranks = report_of_ranks(*A);
  if (T.op) result.preconditioner = T.op->name();
  judge(result, command, observer);
  return result;
}

}  // namespace blockspan::apps
