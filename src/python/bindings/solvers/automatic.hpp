#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/change_over.hpp>
#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/preconditioner.hpp>
#include <blockspan/support/interruption.hpp>

#include "interruption.hpp"
#include "matrix.hpp"
#include "runtime.hpp"
#include "solvers/solvers.hpp"

namespace blockspan::python {

/// The preconditioner of a solve whose caller names none, by the rule of the programs (ChangeOver).
/// Without the GIL.
template <class Scalar>
class Automatic {
 public:
  using Linear = LinearOperator<Scalar, Exec>;
  using Crs = CrsMatrix<Scalar, Exec>;

  /// A, and the mass of a pencil or null, are kept by reference, as is `product`, A as an operator.
  /// columns: of the blocks. Begins with Jacobi or a polynomial; without op where change() is to be
  /// called first, which early allows. Of a system with a negative diagonal entry the solver says
  /// what is wrong.
  Automatic(Exec const& exec, SolveKind kind, Crs const& A, Crs const* mass, Linear const& product,
            int columns, double tolerance, bool early = false)
      : mass_(mass != nullptr ? on_one_rank(exec, *mass) : nullptr),
        in_{.exec = exec,
            .A = on_one_rank(exec, A),
            .product = &product,
            .kind = kind,
            .refuse_diagonal = false,
            .mass = mass_.get(),
            .columns = columns,
            .tolerance = early ? tolerance : 0},
        M_(make_preconditioner(in_, {PreconditionerKind::automatic, "automatic"})),
        course_(change_over_of(in_, M_, tolerance)) {}
  /// Jacobi of A, to the end.
  Automatic(Exec const& exec, Crs const& A)
      : in_{.exec = exec, .A = on_one_rank(exec, A), .refuse_diagonal = false},
        M_(make_preconditioner(in_, {PreconditionerKind::jacobi, "jacobi"})) {}

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
    change_over(in_, course_, iterations, M_, [] { return MultigridOptions<Scalar, Exec>(); });
    return true;
  } catch (Interrupted const&) {
    return false;
  }
  /// Whether the solve may go on after M was found not to be positive definite.
  bool mend() { return M_.mend && M_.mend(M_); }

 private:
  std::shared_ptr<DistributedMatrix<Scalar, Exec> const> mass_;
  PreconditionerInput<Scalar, Exec> in_;
  Preconditioner<Scalar, Exec> M_;
  ChangeOver course_;
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

/// A solve that may go on with another preconditioner: what the solvers have in common.
template <class Scalar, class Request, class Options, class Report>
class CourseOfSolve {
 protected:
  /// automatic: null where the caller has named a preconditioner, or none.
  CourseOfSolve(Request const& request, Interruption& interruption, Options options,
                Automatic<Scalar>* automatic)
      : request_(request),
        interruption_(interruption),
        options_(std::move(options)),
        automatic_(automatic) {}

  /// What a monitor of the solver says: due, another preconditioner may have less work.
  template <class Progress>
  bool goes_on(bool due, Progress const& progress) {
    ended_ = !interruption_.goes_on(request_.monitor, progress);
    return !due && !ended_;
  }

  /// Takes the first preconditioner, made now where that is not the polynomial. Where a signal's
  /// handler has raised meanwhile there may be none, and the monitor ends the solve.
  void begin() {
    Kokkos::Timer const setup;
    if (automatic_->late()) {
      automatic_->change(interruption_, 0);
      setup_ += setup.seconds();
    }
    options_.preconditioner = automatic_->op();
  }

  /// Solves once more with what `automatic` has now, which took `setup` seconds to make, in what
  /// `iterations` and `seconds` have left of the limits, and reports all solves as one.
  template <class Once>
  void go_on(Once const& once_more, double setup, int iterations, double seconds) {
    options_.preconditioner = automatic_->op();
    options_.max_iterations = std::max(0, request_.max_iterations - iterations);
    options_.time_limit = std::max(0.0, request_.time_limit - seconds);
    auto next = once_more();
    next.put_before(report_);
    next.seconds.total += setup;
    report_ = std::move(next);
    setup_ += setup;
  }

  /// The report with what is to be said of the preconditioner: its name, why it was taken, seconds
  /// of setups in the course of the solve. M: the caller's, or null.
  nb::dict with_preconditioner(nb::dict result, Operator const* M) const {
    auto const* const own = automatic_ != nullptr ? automatic_->op() : nullptr;
    result["preconditioner"] = own != nullptr ? own->name()
                               : M != nullptr ? M->name()
                                              : std::string("none");
    result["notes"] = automatic_ != nullptr ? automatic_->notes() : std::vector<std::string>();
    result["seconds"]["setup"] = setup_;
    result["raised"] = interruption_.raised();
    return result;
  }

  Request const& request_;
  Interruption& interruption_;
  Options options_;
  Automatic<Scalar>* automatic_;
  Report report_;
  double setup_ = 0;
  bool ended_ = false;  ///< by the caller or a signal
};

}  // namespace blockspan::python
