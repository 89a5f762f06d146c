#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/solvers/cg/null_space.hpp>
#include <blockspan/solvers/cg/problem.hpp>
#include <blockspan/solvers/cg/thresholds.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/status.hpp>
#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::krylov {

/// What a direction shows of A.
template <class Real>
struct CurvatureVerdict {
  /// negative_curvature: A is not positive semidefinite; singular: the curvature is zero up to
  /// rounding errors; operator_not_finite. Nothing: it is positive.
  std::optional<Status> status;
  Real curvature = 0;  ///< the least d^H A d / (||A|| ||d||^2) seen
};

/// |x| |y|, summed.
template <class Scalar>
struct ProductSizes {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  BlockRef<Scalar const> X, Y;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t j, Real* terms) const {
    terms[0] = Kokkos::abs(X(i, j)) * Kokkos::abs(Y(i, j));
  }
};

/// Judges p^H A p by the size of its terms, so that grading of A does not matter; where it is zero,
/// by the span of p and A p as well: if A were positive semidefinite, A p would be zero with it.
/// Two products with one column, or four.
template <class Scalar, class Exec>
class CurvatureJudge {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  explicit CurvatureJudge(CgProblem<Scalar, Exec>& problem)
      : problem_(problem),
        basis_(problem.new_block(label, 2)),
        images_(problem.new_block(label, 2)),
        signs_(problem.new_block(label, 1)) {}

  CurvatureVerdict<Real> operator()(View const& p) {
    copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(p), block_ref<Exec>(column(basis_, 0)));
    if (scale_to_one(0) == 0) return {};  // no direction, which shows nothing
    Real doubt = multiply(0), least = real_part(products(1)(0, 0));
    bool singular = std::abs(least) <= doubt;
    if (singular && turn_to_image()) {
      doubt = std::max(doubt, multiply(1));
      auto const T = products(2);
      symmetrize(T, Real(1));
      std::vector<Real> values;
      if (all_finite(T) && lapack::hermitian_eigen(T, values) == 0) least = values.front();
      singular = least >= -doubt;
    }
    if (!std::isfinite(least)) return {Status::operator_not_finite, least};
    return {singular    ? std::optional(Status::singular)
            : least < 0 ? std::optional(Status::negative_curvature)
                        : std::nullopt,
            least / problem_.norm_a()};
  }

 private:
  static constexpr char const* label = "Blockspan::cg::curvature";

  View column(View const& block, int j) const { return column_range(block, j, 1); }

  Real scale_to_one(int j) {
    Real const length = problem_.norms(column(basis_, j))[0];
    std::vector<Real> const factor{length > 0 ? 1 / length : Real(0)};
    blockspan::scale_columns(problem_.exec, host_values(factor), column(basis_, j));
    problem_.synchronize("Blockspan::cg: numbers of the host");
    return length;
  }

  /// A times vector j; what the rounding errors of its curvature may be, and more.
  Real multiply(int j) {
    auto const x = column(basis_, j), image = column(images_, j);
    multiply_flipped(problem_, x, signs_, image);
    Real const terms = problem_.fold(
        label, ProductSizes<Scalar>{block_ref<Exec>(x), block_ref<Exec>(image)}, 1)[0];
    problem_.apply_a(x, image);
    // the signs of a vector on few rows may all have stayed
    return CgThresholds<Real>::null_image * CgThresholds<Real>::u *
           std::max(terms, problem_.diagonal_energy(x));
  }

  /// Vector 1 := A p without its part along p, of length 1. False: nothing is left of it.
  bool turn_to_image() {
    auto const p = column(basis_, 0), q = column(basis_, 1);
    copy_block<Exec, Scalar>(problem_.exec, block_ref<Exec>(column(images_, 0)),
                             block_ref<Exec>(q));
    blockspan::project_out(problem_.exec, p, p, q, problem_.workspace);
    if (!(scale_to_one(1) > CgThresholds<Real>::u * problem_.norm_a())) return false;
    blockspan::project_out(problem_.exec, p, p, q, problem_.workspace);
    return true;
  }

  SmallMatrix<Scalar> products(int count) {
    auto const G = small_matrix<Scalar>(count, count);
    blockspan::gram(problem_.exec, column_range(basis_, 0, count), column_range(images_, 0, count),
                    G, problem_.workspace);
    problem_.synchronize("Blockspan::cg: curvature");
    return G;
  }

  CgProblem<Scalar, Exec>& problem_;
  View basis_, images_, signs_;
};

}  // namespace blockspan::krylov
