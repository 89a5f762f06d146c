#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/multigrid/automatic.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/direct.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/support/interruption.hpp>

#include "interruption.hpp"
#include "matrix.hpp"
#include "runtime.hpp"
#include "solvers.hpp"

namespace blockspan::python {

/// A preconditioner, and what a user should know of it.
template <class Scalar>
struct Candidate {
  std::unique_ptr<LinearOperator<Scalar, Exec>> op;
  std::vector<std::string> notes = {};
  std::optional<MultigridReport> levels = {};
  /// What helps where a solver finds it not positive definite; empty, or false: nothing.
  std::function<bool(Candidate&)> mend = {};
};

/// The preconditioner of a solve whose caller names none, by the rule of the programs (ChangeOver).
/// Without the GIL.
template <class Scalar>
class Automatic {
 public:
  using Linear = LinearOperator<Scalar, Exec>;
  using Crs = CrsMatrix<Scalar, Exec>;

  /// A, and the mass of a pencil or null, are kept by reference, as is `product`, A as an operator.
  /// columns: of the blocks. Begins with Jacobi or a polynomial.
  Automatic(Exec const& exec, SolveKind kind, Crs const& A, Crs const* mass, Linear const& product,
            int columns, double tolerance)
      : exec_(exec),
        kind_(kind),
        A_(A),
        mass_(mass),
        columns_(columns),
        course_(kind, A.numRows(), columns, tolerance, true, shape_of(A)) {
    if (kind == SolveKind::eigenpairs && A.numRows() >= automatic_least_rows) {
      auto const setup = chebyshev_setup(exec, product, A, automatic_polynomial());
      if (setup.usable())
        M_.op = std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(
            chebyshev(product, setup, automatic_polynomial()));
      else
        course_ = {};
    }
    if (!M_.op) take_jacobi();
  }
  /// Jacobi of A, to the end.
  Automatic(Exec const& exec, Crs const& A) : exec_(exec), A_(A) { take_jacobi(); }

  Linear const* op() const { return M_.op.get(); }
  std::vector<std::string> const& notes() const { return M_.notes; }
  /// errors: those that have to fall below the tolerance. True: another may have less work.
  template <class Real>
  bool due(std::span<Real const> errors, int iteration, int groups_after = 0) {
    std::vector<double> const all(errors.begin(), errors.end());
    return course_.due(all, iteration, groups_after);
  }
  bool late() const { return course_.late(); }
  /// Takes what the solve goes on with. False: a signal's handler has raised, and the solve ends.
  bool change(Interruption& interruption, int iterations) try {
    InterruptionCheck const check(interruption.as_check());
    course_.take(
        iterations, M_, [&] { return levels({.columns = columns_}); },
        [&](double left) { return factors(left); },
        [&] { return levels({.coarse_rows = A_.numRows(), .columns = columns_}); });
    return true;
  } catch (Interrupted const&) {
    return false;
  }
  /// Whether the solve may go on after M was found not to be positive definite.
  bool mend() { return M_.mend && M_.mend(M_); }

 private:
  static std::function<GraphShape()> shape_of([[maybe_unused]] Crs const& A) {
    if constexpr (on_device)
      return nullptr;
    else
      return [&A] { return graph_shape(A); };
  }
  void take_jacobi() {
    M_.op = std::make_unique<JacobiPreconditioner<Scalar, Exec>>(jacobi(exec_, A_));
  }

  Candidate<Scalar> levels(MultigridOptions<Scalar, Exec> const& options) const {
    try {
      auto made = std::make_unique<Multigrid<Scalar, Exec>>(exec_, A_, options);
      auto const& report = made->report();
      if (!report.usable()) return {nullptr, {"multigrid does not suit: " + report.message}};
      Candidate<Scalar> result{nullptr, report.notes, report};
      if (!report.message.empty()) result.notes.push_back("multigrid: " + report.message);
      result.mend = [exec = exec_, &levels = *made](Candidate<Scalar>& self) {
        if (!levels.use_working_precision(exec)) return false;
        self.notes.push_back(levels.report().notes.back());
        return true;
      };
      result.op = std::move(made);
      return result;
    } catch (Error const& error) {
      return {nullptr, {std::string("multigrid does not suit: ") + error.what()}};
    }
  }

  Candidate<Scalar> factors([[maybe_unused]] double left) const {
    if constexpr (has_factors) {
      DirectOptions const options{
          .use = kind_ == SolveKind::system ? DirectUse::definite : DirectUse::preconditioner,
          .memory_limit = factors_worth(kind_, A_.numRows(), A_.nnz(), columns_, left)};
      try {
        auto made = std::make_unique<DirectSolver<Scalar, Exec>>(direct(exec_, A_, options, mass_));
        auto notes = made->report().notes();
        return {std::move(made), std::move(notes)};
      } catch (Error const& error) {
        return {nullptr, {error.what()}};
      }
    }
    return {};
  }

  Exec exec_;
  SolveKind kind_ = SolveKind::system;
  Crs const& A_;
  Crs const* mass_ = nullptr;
  int columns_ = 1;
  ChangeOver course_;
  Candidate<Scalar> M_;
};

/// The entries of A as a matrix of Scalar; null: the caller has named a preconditioner. Throws
/// Error for another type, or where its arrays were changed.
template <class Scalar>
CrsMatrix<Scalar, Exec> const* entries_of(Matrix const* A) {
  if (A == nullptr) return nullptr;
  require(A->type() == type_name<Scalar>(), "blockspan", "the entries of A have the type ",
          A->type(), ", and the operator ", type_name<Scalar>());
  A->check_unchanged();
  return &static_cast<MatrixOf<Scalar> const&>(*A).crs();
}

/// What a report says of the preconditioner: its name, why it was taken, seconds of setups in the
/// course of the solve. automatic: null where M, or none, was asked for.
template <class Scalar>
void report_preconditioner(nb::dict& result, Automatic<Scalar> const* automatic, Operator const* M,
                           double setup) {
  result["preconditioner"] = automatic != nullptr ? automatic->op()->name()
                             : M != nullptr       ? M->name()
                                                  : std::string("none");
  result["notes"] = automatic != nullptr ? automatic->notes() : std::vector<std::string>();
  result["seconds"]["setup"] = setup;
}

}  // namespace blockspan::python
