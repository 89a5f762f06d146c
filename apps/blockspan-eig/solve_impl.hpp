#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include <blockspan/operators/gershgorin.hpp>
#include <blockspan/support/memory.hpp>

#include "blockspan-eig/check.hpp"
#include "blockspan-eig/notes.hpp"
#include "blockspan-eig/single_operators.hpp"
#include "blockspan-eig/solve.hpp"
#include "common/interrupt.hpp"
#include "common/lap.hpp"
#include "common/preconditioner.hpp"
#include "common/problem.hpp"
#include "common/products.hpp"
#include "common/symmetry.hpp"

namespace blockspan::apps {

namespace detail {

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

/// The vectors of a file, where Exec computes; none without a file.
template <class Scalar, class Exec>
Block<Scalar, Exec> load_block(Exec const& exec, std::string const& file) {
  if (file.empty()) return {};
  auto const host = read_block<Scalar>(input_file(file));
  auto const block =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::" + file, host.extent(0), host.extent(1));
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::load_block");
  return block;
}

/// Solves in the precision that the command asks for.
template <class Scalar, class Exec>
LobpcgMixedReport<double> run(Exec const& exec, EigCommand const& command,
                              CrsMatrix<Scalar, Exec> const& A, CrsMatrix<Scalar, Exec> const* M,
                              LinearOperator<Scalar, Exec> const& a,
                              LinearOperator<Scalar, Exec> const* b, Block<Scalar, Exec> const& X,
                              LobpcgOptions<Scalar, Exec> const& options) {
  if constexpr (has_single_precision<Scalar>)
    if (command.precision == "mixed") {
      SingleOperators<Scalar, Exec> const single(exec, A, M, command.block_columns(A.numRows()),
                                                 command.preconditioner_choice);
      return b ? lobpcg_mixed(exec, single.operators(), a, *b, X, options)
               : lobpcg_mixed(exec, single.operators(), a, X, options);
    }
  return {b ? lobpcg(exec, a, *b, X, options) : lobpcg(exec, a, X, options), {}};
}

}  // namespace detail

template <class Scalar, class Exec>
EigResult solve(Exec const& exec, EigCommand const& command, ProgressLine& progress,
                OutputFile* vectors) {
  require_product<Exec>(command.machine.spmm);
  require_precision<Scalar>(command.precision, command.machine.spmm, command.preconditioner_choice);
  EigResult result;
  Lap lap;
  progress.stage("loading " + command.matrix);
  using Matrix = CrsMatrix<Scalar, Exec>;
  auto const loaded =
      load_operator<Scalar>(exec, command.matrix, command.operator_kind, result.notes);
  std::unique_ptr<Matrix const> M;
  if (!command.mass.empty())
    M = std::make_unique<Matrix const>(load_matrix<Scalar>(exec, command.mass));
  auto const hermitian = [&](std::string const& source, Matrix const& given) {
    return take_hermitian(exec, source, given, command.symmetrize, result.notes);
  };
  Matrix const A = hermitian(command.matrix, loaded);
  if (M) M = std::make_unique<Matrix const>(hermitian(command.mass, *M));
  auto const initial = detail::load_block<Scalar>(exec, command.initial);
  auto const constraints = detail::load_block<Scalar>(exec, command.constraints);
  exec.fence("Blockspan::load");
  result.seconds.load = lap();

  progress.stage("preparing the sparse product");
  result.block = command.block_columns(A.numRows());
  auto const product = make_product<Scalar>(exec, A, command.machine.spmm, result.block);
  Product<Scalar, Exec> mass;
  if (M) mass = make_product<Scalar>(exec, *M, command.machine.spmm, result.block);
  auto options = detail::solver_options<Scalar, Exec>(command);
  if (!options.resume.empty()) options.resume = input_file(options.resume);
  auto choice = command.preconditioner_choice;
  choice.columns = result.block;
  auto T = make_preconditioner<Scalar>(exec, choice, A, *product.op, Definiteness::any, M.get());
  options.preconditioner = T.op.get();
  auto const X = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::eigenvectors", A.numRows(),
                                                     command.vector_columns(A.numRows()));
  options.guess_columns = static_cast<int>(initial.extent(1));
  if (options.guess_columns > 0)
    Kokkos::deep_copy(exec, Kokkos::subview(X, Kokkos::ALL, std::pair(0, options.guess_columns)),
                      initial);
  options.constraints = constraints;
  if (command.certify && M)
    options.mass_lower_bound = std::max(0.0, gershgorin_lower_bound(exec, *M));
  exec.fence("Blockspan::setup");
  result.seconds.setup = lap();

  Observer observer(command, progress);
  LateSwitch late(command.tolerance);
  options.monitor = [&](LobpcgProgress<double> const& now) {
    bool const goes_on = observer(now);
    auto const& errors = now.backward_errors;
    auto const count = std::min(errors.size(), static_cast<std::size_t>(now.wanted));
    return !late.due(std::span(errors.data(), count), T.late_setup) && goes_on;
  };
  auto const run = [&] {
    result.solver =
        detail::run<Scalar>(exec, command, A, M.get(), *product.op, mass.op.get(), X, options);
  };
  run();
  lap();
  if (late.late() && result.solver.status == Status::stopped_by_monitor) {
    switch_late(exec, choice, A, result.solver.iterations, T);
    result.seconds.setup += lap();
    options.preconditioner = T.op.get();
    options.guess_columns = static_cast<int>(X.extent(1));
    run();
    lap();
  }
  result.notes.insert(result.notes.end(), T.notes.begin(), T.notes.end());
  result.levels = T.levels;

  InterruptGuard::work_has_begun();  // if no monitor was called, on the dense path
  progress.stage("checking the residuals");
  auto const plain = plain_product<Scalar>(A), plain_mass = plain_product<Scalar>(M ? *M : A);
  result.check = check_residuals<Scalar, Exec>(exec, plain, M ? &plain_mass : nullptr, X,
                                               constraints, result.solver.eigenvalues,
                                               result.solver.norm_a, result.solver.norm_b);
  result.seconds.check = lap();
  if (vectors != nullptr) {
    progress.stage("writing " + vectors->name());
    auto const found = Kokkos::subview(X, Kokkos::ALL, std::pair(0, command.pairs));
    auto const fault =
        vectors->write_by([&](std::string const& path) { write_block(path, found); });
    if (fault) result.lost.push_back(*fault);
  }
  result.seconds.output = lap();

  result.device = describe(exec);
  result.scalar = is_complex_v<Scalar> ? "complex<double>" : "double";
  result.rows = A.numRows();
  result.nonzeros = static_cast<std::int64_t>(A.nnz());
  result.mass_nonzeros = M ? static_cast<std::int64_t>(M->nnz()) : 0;
  result.product = product.name;
  result.product_reason = product.reason;
  if (T.op) result.preconditioner = T.op->name();
  judge(result, command, observer);
  return result;
}

}  // namespace blockspan::apps
