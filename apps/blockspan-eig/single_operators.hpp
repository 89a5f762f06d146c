#pragma once

#include <optional>

#include <blockspan/solvers/lobpcg_mixed.hpp>
#include <blockspan/solvers/single_precision.hpp>

#include "common/precision.hpp"
#include "common/preconditioner.hpp"

namespace blockspan::apps {

/// The operators of a problem in single precision, for --precision mixed.
template <class Scalar, class Exec>
class SingleOperators {
 public:
  /// A, M: of the problem; M: null for the identity. columns: of the block. Throws Error where the
  /// preconditioner cannot be made. Waits for the instance.
  SingleOperators(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                  CrsMatrix<Scalar, Exec> const* M, int columns, PreconditionerChoice const& choice)
      : a_(single_precision_matrix(exec, A, columns)),
        t_(make_preconditioner<single_t<Scalar>>(exec, choice, a_.op.matrix(), a_.op,
                                                 Definiteness::any)) {
    if (M) m_.emplace(single_precision_matrix(exec, *M, columns));
  }
  SingleOperators(SingleOperators const&) = delete;
  SingleOperators& operator=(SingleOperators const&) = delete;

  LobpcgSingleOperators<Scalar, Exec> operators() const {
    return {a_.op, m_ ? &m_->op : nullptr, t_.op.get(), a_.factor / (m_ ? m_->factor : 1)};
  }

 private:
  SinglePrecisionMatrix<Scalar, Exec> a_;
  std::optional<SinglePrecisionMatrix<Scalar, Exec>> m_;
  Preconditioner<single_t<Scalar>, Exec> t_;
};

}  // namespace blockspan::apps
