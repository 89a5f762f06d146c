#pragma once

#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan {

/// An operator made from a matrix, which can be updated for new values of the same pattern.
template <class Scalar, class Exec>
class RefreshableOperator : public LinearOperator<Scalar, Exec> {
 public:
  /// A: with the pattern of the original matrix; data that depends only on the pattern is kept.
  /// Fences the instance and throws Error as at construction; after a throw it must be refreshed
  /// again.
  virtual void refresh(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) = 0;
};

}  // namespace blockspan
