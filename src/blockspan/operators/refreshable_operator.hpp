#pragma once

#include <blockspan/operators/linear_operator.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

namespace blockspan {

/// An operator made from a matrix that can take other values of the same pattern.
template <class Scalar, class Exec>
class RefreshableOperator : public LinearOperator<Scalar, Exec> {
 public:
  /// A: of the pattern it was made from; what depends on the pattern alone is kept. Waits for the
  /// instance and throws Error as when it was made; after a throw it must be refreshed again.
  virtual void refresh(Exec const& exec, CrsMatrix<Scalar, Exec> const& A) = 0;
};

}  // namespace blockspan
