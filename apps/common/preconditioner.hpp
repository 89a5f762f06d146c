#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multigrid/exchange.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/operators/block_jacobi.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/diagonal.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/operators/gauss_seidel.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/sparse/crs_matrix.hpp>
#include <blockspan/sparse/matrix_market.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/out_of_memory.hpp>

#include "common/components.hpp"
#include "common/input_file.hpp"
#include "common/preconditioner_choice.hpp"
#include "common/words.hpp"

namespace blockspan::apps {

/// A preconditioner, and what the user should know of it.
template <class Scalar, class Exec>
struct Preconditioner {
  std::unique_ptr<LinearOperator<Scalar, Exec>> op;  ///< null: none
  std::vector<std::string> notes;
  std::optional<MultigridReport> levels = {};
  /// automatic: multigrid may follow, with a setup of about this many seconds; infinite: it will
  /// not.
  double late_setup = std::numeric_limits<double>::infinity();
  /// automatic: factors may follow, after so many iterations.
  int late_iterations = std::numeric_limits<int>::max();
  /// What helps where a solver finds it not positive definite; empty, or false: nothing.
  std::function<bool(Preconditioner&)> mend = {};
};

/// Watches a solve for the moment to change over to multigrid or factors.
class LateSwitch {
 public:
  explicit LateSwitch(double tolerance) : tolerance_(tolerance) {}
  /// errors: those that have to fall below the tolerance. late_setup: of the Preconditioner.
  bool due(std::span<double const> errors, double late_setup) {
    late_ = !errors.empty() &&
            is_time_to_switch(timer_.seconds(), late_setup,
                              *std::max_element(errors.begin(), errors.end()), tolerance_);
    return late_;
  }
  /// The same for factors, by the number of iterations.
  bool due(std::span<double const> errors, int iteration, int late_iterations) {
    if (iteration < late_iterations) return late_;
    return due(errors, 0.0);
  }
  bool late() const { return late_; }  ///< what due() said last

 private:
  double tolerance_;
  bool late_ = false;
  Kokkos::Timer timer_;
};

/// What a matrix must be for the problem at hand.
enum class Definiteness {
  any,      ///< an eigenproblem: the preconditioner is made positive definite whatever A is
  positive  ///< a linear system: a diagonal entry or block that proves it is not is refused
};

namespace detail {

/// Throws Error with the first row whose diagonal entry is negative or not finite: A is then not
/// positive semidefinite, and Jacobi means nothing. Of a zero the solver finds out: an empty row (a
/// point of a graph without edges) does no harm. d: of rows from `first_row` on.
template <class Real>
void require_diagonal(std::vector<Real> const& d, std::int64_t first_row = 0) {
  for (std::size_t i = 0; i < d.size(); ++i)
    require(d[i] >= 0 && std::isfinite(d[i]), "--preconditioner", "the diagonal entry of row ",
            first_row + static_cast<std::int64_t>(i) + 1, " is ", d[i],
            ", so the matrix is not positive definite");
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_jacobi(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                         Definiteness definiteness) {
  if (definiteness == Definiteness::positive) {
    auto const d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), diagonal(exec, A));
    std::vector<real_t<Scalar>> real;
    for (std::size_t i = 0; i < d.extent(0); ++i) real.push_back(real_part(d(i)));
    require_diagonal(real);
  }
  return {std::make_unique<JacobiPreconditioner<Scalar, Exec>>(jacobi(exec, A)), {}};
}

/// The same in place of what could not be made.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_jacobi_instead(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                                 Definiteness definiteness,
                                                 std::string const& asked,
                                                 std::string const& reason) {
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  result.notes.push_back("jacobi instead of " + asked + ": " + reason);
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_block_jacobi(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                               int block_size, Definiteness definiteness) {
  auto T = std::make_unique<BlockJacobiPreconditioner<Scalar, Exec>>(
      exec, A, BlockJacobiOptions{block_size, definiteness == Definiteness::any});
  Preconditioner<Scalar, Exec> result;
  if (T->block_size() == 1)
    result.notes.push_back(
        "block-jacobi found no dense tiles in the pattern, so that its "
        "blocks are single rows; block-jacobi:ROWS gives the size");
  if (T->indefinite_blocks() > 0)
    result.notes.push_back(std::to_string(T->indefinite_blocks()) +
                           " of the blocks of block-jacobi are not positive definite; their "
                           "modulus is used instead");
  result.op = std::move(T);
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_chebyshev(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                            LinearOperator<Scalar, Exec> const& product,
                                            ChebyshevOptions const& options,
                                            Definiteness definiteness) {
  auto const setup = chebyshev_setup(exec, product, A, options);
  if (setup.usable())
    return {
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options)),
        {}};
  return make_jacobi_instead<Scalar>(exec, A, definiteness, "chebyshev", setup.fault);
}

/// What make(exec, A) gives, which refuses a matrix that it finds not positive definite.
template <class Scalar, class Exec, class Make>
Preconditioner<Scalar, Exec> make_definite(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                           Definiteness definiteness, std::string const& asked,
                                           Make const& make) {
  try {
    return {make(exec, A), {}};
  } catch (Error const& error) {
    if (definiteness == Definiteness::positive) throw;
    return make_jacobi_instead<Scalar>(exec, A, definiteness, asked,
                                       without_cpp_names(error.what()));
  }
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_direct(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                         CrsMatrix<Scalar, Exec> const* M,
                                         Definiteness definiteness) {
  bool const positive = definiteness == Definiteness::positive;
  try {
    auto T = std::make_unique<DirectSolver<Scalar, Exec>>(
        direct(exec, A, {.use = positive ? DirectUse::definite : DirectUse::preconditioner}, M));
    auto notes = T->report().notes();
    return {std::move(T), std::move(notes)};
  } catch (OutOfMemory const&) {
    throw;
  } catch (Error const& error) {
    if (positive) throw;
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "direct",
                                       without_cpp_names(error.what()));
  }
}

/// The block of a file, on `exec`; none without a name.
template <class Scalar, class Exec>
Block<Scalar, Exec> block_of_file(Exec const& exec, std::string const& name) {
  if (name.empty()) return {};
  auto const host = read_block<Scalar>(input_file(name));
  auto const block =
      allocate<Block<Scalar, Exec>>(exec, "Blockspan::" + name, host.extent(0), host.extent(1));
  Kokkos::deep_copy(exec, block, host);
  exec.fence("Blockspan::block_of_file");
  return block;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_multigrid(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                            PreconditionerChoice const& choice,
                                            Definiteness definiteness) {
  MultigridOptions<Scalar, Exec> options;
  options.near_null = block_of_file<Scalar>(exec, choice.inputs.near_null);
  options.coordinates = block_of_file<real_t<Scalar>>(exec, choice.inputs.coordinates);
  options.block_size = choice.inputs.block_size;
  options.adaptive = choice.inputs.adaptive;
  std::string const& folder = choice.inputs.hierarchy;
  if (!folder.empty()) options.prolongators = read_prolongators<Scalar>(exec, folder);
  options.degree = choice.degree;
  options.columns = choice.columns;
  options.validate(A.numRows());  // what the user said is refused, whatever the matrix is
  std::unique_ptr<Multigrid<Scalar, Exec>> M;
  try {
    M = std::make_unique<Multigrid<Scalar, Exec>>(exec, A, options);
  } catch (Error const& error) {
    if (definiteness == Definiteness::positive) throw;
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "multigrid",
                                       without_cpp_names(error.what()));
  }
  auto report = M->report();
  report.message = without_cpp_names(report.message);
  if (!report.usable())
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "multigrid", report.message);
  Preconditioner<Scalar, Exec> result;
  result.notes = report.notes;
  if (!folder.empty())
    for (auto& note : hierarchy_differences(exec, folder, *M)) result.notes.push_back(note);
  if (!report.message.empty()) result.notes.push_back("multigrid: " + report.message);
  result.levels = report;
  result.mend = [exec, multigrid = M.get()](auto& self) {
    if (!multigrid->use_working_precision(exec)) return false;
    self.levels = multigrid->report();
    self.notes.push_back(multigrid->report().notes.back());
    return true;
  };
  result.op = std::move(M);
  return result;
}

/// Multigrid that finds itself good; otherwise none, and the reason among the notes.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> only_if_good(Preconditioner<Scalar, Exec> result) {
  auto const status = result.levels ? result.levels->status : MultigridStatus::indefinite;
  if (status == MultigridStatus::good || status == MultigridStatus::fair) return result;
  if (result.levels)
    result.notes = {"multigrid is " + std::string(to_string(status)) + ": " +
                    result.levels->message};
  result.op.reset();
  result.levels.reset();
  result.mend = {};
  return result;
}

template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_good_multigrid(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                                 PreconditionerChoice choice) {
  choice.degree = 2;
  return only_if_good(make_multigrid<Scalar>(exec, A, choice, Definiteness::any));
}

/// `late` in place of M, if there is one, after so many iterations.
template <class Scalar, class Exec>
void take_over(Preconditioner<Scalar, Exec> late, int iterations, Preconditioner<Scalar, Exec>& M,
               std::string const& name = "multigrid") {
  auto const after = " after " + std::to_string(iterations) + " iterations with " + M.op->name();
  M.late_setup = std::numeric_limits<double>::infinity();
  M.late_iterations = std::numeric_limits<int>::max();
  M.notes = late.notes;
  M.notes.push_back(name + (late.op ? " took over" : " was tried") + after);
  if (!late.op) return;
  M.op = std::move(late.op);
  M.levels = late.levels;
  M.mend = late.mend;
}

/// Seconds of a product with one column.
template <class Scalar, class Exec>
double seconds_of_product(Exec const& exec, LinearOperator<Scalar, Exec> const& A) {
  auto const x = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::automatic", A.rows(), 1),
             y = allocate_zeros<Block<Scalar, Exec>>(exec, "Blockspan::automatic", A.rows(), 1);
  A.apply(exec, x, y);
  exec.fence("Blockspan::automatic");
  Kokkos::Timer timer;
  A.apply(exec, x, y);
  exec.fence("Blockspan::automatic");
  return timer.seconds();
}

/// Multigrid where it is advised and good, else jacobi for systems and chebyshev for eigenpairs.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_automatic(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                            LinearOperator<Scalar, Exec> const& product,
                                            PreconditionerChoice const& choice,
                                            Definiteness definiteness) {
  using When = MultigridAdvice::When;
  bool const system = definiteness == Definiteness::positive;
  ChebyshevOptions const options{.degree = choice.degree, .ratio = choice.ratio};
  auto const setup = chebyshev_setup(exec, product, A, options);
  if (!setup.usable())
    return make_jacobi_instead<Scalar>(exec, A, definiteness, "chebyshev and multigrid",
                                       setup.fault);
  double const smallest = setup.estimate.smallest;
  double const condition =
      smallest > 0 ? setup.estimate.largest / smallest : std::numeric_limits<double>::infinity();
  auto const advice =
      advise_multigrid(A.numRows(), system ? SolveKind::system : SolveKind::eigenpairs, condition);
  std::vector<std::string> notes;
  if (advice.when == When::at_once) {
    auto result = make_good_multigrid<Scalar>(exec, A, choice);
    if (result.op) {
      result.notes.insert(result.notes.begin(), "multigrid: " + advice.reason);
      return result;
    }
    notes = result.notes;
  } else {
    notes.push_back((system ? "jacobi: " : "chebyshev: ") + advice.reason);
  }
  auto result = make_jacobi<Scalar>(exec, A, definiteness);
  if (!system)
    result.op =
        std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(product, setup, options));
  result.notes = notes;
  if (advice.when == When::late)
    result.late_setup = multigrid_setup_products * seconds_of_product(exec, product);
  // Without rounding errors conjugate gradients end after as many steps as there are rows: where
  // they are not even half way then, the matrix is too ill-conditioned for them.
  if (advice.when == When::never && system)
    result.late_iterations = std::max(static_cast<int>(A.numRows()), 100);
  return result;
}

/// Factors of a matrix of few rows, or multigrid where these are not linked; no op, and the reason
/// among the notes, where there are none.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_late(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                       PreconditionerChoice const& choice) {
  if constexpr (has_direct) {
    try {
      return make_direct<Scalar, Exec>(exec, A, nullptr, Definiteness::positive);
    } catch (Error const& error) {
      return {nullptr, {without_cpp_names(error.what())}};
    }
  }
  return make_good_multigrid<Scalar>(exec, A, choice);
}

}  // namespace detail

/// What `automatic` said might follow: if it is good, it replaces M, and the reason is noted. A:
/// the matrix of M. Waits for the instance.
template <class Scalar, class Exec>
void switch_late(Exec const& exec, PreconditionerChoice const& choice,
                 CrsMatrix<Scalar, Exec> const& A, int iterations,
                 Preconditioner<Scalar, Exec>& M) {
  if (M.late_iterations < std::numeric_limits<int>::max())
    detail::take_over(detail::make_late<Scalar>(exec, A, choice), iterations, M,
                      has_direct ? "direct" : "multigrid");
  else
    detail::take_over(detail::make_good_multigrid<Scalar>(exec, A, choice), iterations, M);
}

/// The preconditioner of A. product: A as an operator, which chebyshev keeps by reference; M: the
/// mass matrix of an eigenproblem, null for the identity, by which direct shifts. Throws Error
/// where A is not as definite as it must be. Waits for the instance.
template <class Scalar, class Exec>
Preconditioner<Scalar, Exec> make_preconditioner(Exec const& exec,
                                                 PreconditionerChoice const& choice,
                                                 CrsMatrix<Scalar, Exec> const& A,
                                                 LinearOperator<Scalar, Exec> const& product,
                                                 Definiteness definiteness,
                                                 CrsMatrix<Scalar, Exec> const* M = nullptr) {
  switch (choice.kind) {
    case PreconditionerChoice::Kind::none:
      break;
    case PreconditionerChoice::Kind::jacobi:
      return detail::make_jacobi<Scalar>(exec, A, definiteness);
    case PreconditionerChoice::Kind::block_jacobi:
      return detail::make_block_jacobi<Scalar>(exec, A, choice.block_size, definiteness);
    case PreconditionerChoice::Kind::chebyshev:
      return detail::make_chebyshev<Scalar>(
          exec, A, product, {.degree = choice.degree, .ratio = choice.ratio}, definiteness);
    case PreconditionerChoice::Kind::gauss_seidel:
      if constexpr (has_kokkos_kernels)
        return detail::make_definite<Scalar>(
            exec, A, definiteness, "gauss-seidel",
            [](auto const&... on) { return gauss_seidel<Scalar, Exec>(on...); });
      break;
    case PreconditionerChoice::Kind::direct:
      if constexpr (has_direct) return detail::make_direct<Scalar>(exec, A, M, definiteness);
      break;
    case PreconditionerChoice::Kind::multigrid:
      return detail::make_multigrid<Scalar>(exec, A, choice, definiteness);
    case PreconditionerChoice::Kind::automatic:
      return detail::make_automatic<Scalar>(exec, A, product, choice, definiteness);
  }
  return {};
}

}  // namespace blockspan::apps
