#pragma once

#include <memory>
#include <string>

#include <blockspan/solvers/single_precision.hpp>

#include "common/precision.hpp"
#include "common/preconditioner.hpp"

namespace blockspan::apps {

/// What solves in single precision, and what it refers to.
template <class Scalar, class Exec>
class SingleSetup {
 public:
  using Single = single_t<Scalar>;

  SingleSetup(Exec const& exec, CrsMatrix<Scalar, Exec> const& A, int columns,
              PreconditionerChoice const& choice)
      : A_(single_precision_matrix(exec, A, columns)),
        M_(make_preconditioner<Single>(exec, choice, A_.op.matrix(), A_.op,
                                       Definiteness::positive)),
        solver_(A_.op, M_.op.get(), A_.factor) {}
  SingleSetup(SingleSetup const&) = delete;
  SingleSetup& operator=(SingleSetup const&) = delete;

  CorrectionSolver<Scalar, Exec> const& solver() const { return solver_; }

 private:
  SinglePrecisionMatrix<Scalar, Exec> A_;
  Preconditioner<Single, Exec> M_;
  SinglePrecision<Scalar, Exec> solver_;
};

/// The inner solver of --precision mixed, null for `working`. Waits for the instance.
template <class Scalar, class Exec>
std::shared_ptr<CorrectionSolver<Scalar, Exec> const> make_inner_solver(
    Exec const& exec, std::string const& precision, CrsMatrix<Scalar, Exec> const& A, int columns,
    PreconditionerChoice const& choice) {
  if constexpr (has_single_precision<Scalar>)
    if (precision == "mixed") {
      auto const setup = std::make_shared<SingleSetup<Scalar, Exec>>(exec, A, columns, choice);
      return {setup, &setup->solver()};
    }
  return nullptr;
}

}  // namespace blockspan::apps
