#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::levels {

/// Additional columns beyond the requested ones.
inline constexpr int adaptive_guards = 2;

/// W^1/2 A W^1/2, from the square roots of W.
template <class Scalar, class Exec, class Factors>
CrsMatrix<Scalar, Exec> scaled_by_roots(Exec const& exec, CrsMatrix<Scalar, Exec> const& A,
                                        Factors const& roots) {
  auto const pattern = pattern_ref<Exec>(A);
  auto const values = allocate<Array<Scalar, Exec>>(exec, "Blockspan::multigrid", pattern.entries);
  auto const from = A.values;
  each(
      exec, "Blockspan::multigrid_scale_matrix", pattern.rows, KOKKOS_LAMBDA(std::int64_t i) {
        for (int k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k)
          values(k) = (roots(i) * roots(pattern.column_indices[k])) * from(k);
      });
  return CrsMatrix<Scalar, Exec>("Blockspan::multigrid", A.numRows(), A.numCols(),
                                 static_cast<int>(A.nnz()), values, A.graph.row_map,
                                 A.graph.entries);
}

/// The same as an operator, if A is given only as an operator.
template <class Scalar, class Exec, class Factors>
class ScaledByRoots final : public LinearOperator<Scalar, Exec> {
 public:
  ScaledByRoots(LinearOperator<Scalar, Exec> const& A, Factors const& roots)
      : A_(A), roots_(roots) {}

  std::int64_t rows() const override { return A_.rows(); }
  OperatorFacts<Scalar, Exec> facts() const override { return {.row_space = A_.row_space()}; }
  void apply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
             Block<Scalar, Exec> const& Y) const override {
    std::size_t const n = X.extent(0), k = X.extent(1);
    Block<Scalar, Exec> const scaled(
        memory_.template device<Scalar>(exec, Workspace<Exec>::product,
                                        static_cast<std::int64_t>(n * k)),
        n, k);
    auto const y = block_ref<Exec>(Y);
    scale_rows<Exec, Scalar>(exec, roots_.data(), block_ref<Exec>(X), block_ref<Exec>(scaled));
    A_.apply(exec, scaled, Y);
    scale_rows<Exec, Scalar>(exec, roots_.data(), y, y);
  }

 private:
  LinearOperator<Scalar, Exec> const& A_;
  Factors roots_;
  mutable Workspace<Exec> memory_;
};

/// Approximate eigenvectors of the smallest Rayleigh quotients x^H A x / x^H D x by a few steps of
/// a locally optimal block method (Knyazev 2001, doi:10.1137/S1064827500366124) for W^1/2 A W^1/2,
/// preconditioned by a Chebyshev polynomial of degree 8: smooth errors of the problem itself, where
/// no near-null vectors are given. Called by all ranks.
template <class Scalar, class Exec>
class AdaptiveVectors {
 public:
  using Vectors = Block<Scalar, Exec>;
  using Factors = typename JacobiPreconditioner<Scalar, Exec>::Factors;
  static constexpr int steps = 8;

  /// A: the scaled operator, kept by reference; roots: of W; upper: bound of the largest eigenvalue
  /// of A.
  AdaptiveVectors(Exec const& exec, LinearOperator<Scalar, Exec> const& A, Factors const& roots,
                  real_t<Scalar> upper, int wanted)
      : exec_(exec),
        n_(A.rows()),
        wanted_(wanted),
        width_(wanted + adaptive_guards),
        A_(A),
        roots_(roots),
        ones_(allocate<Factors>(exec, "Blockspan::multigrid", n_)),
        T_(A_, filled_with_ones(exec, ones_), upper / 100, upper, 8),
        basis_(block(3 * width_)),
        image_(block(3 * width_)),
        before_(block(width_)),
        residual_(block(width_)),
        result_(block(wanted_)),
        workspace_(A.row_space()) {}

  /// n x wanted.
  Vectors find(std::uint64_t seed) {
    blockspan::fill_random(exec_, part(basis_, 0, width_), seed, 0, A_.row_space().first_row());
    int rank = blockspan::orthonormalize(exec_, part(basis_, 0, width_), workspace_).rank;
    for (int step = 0; step < steps; ++step) {
      rayleigh_ritz(rank);
      rank = extend(step > 0);
    }
    rayleigh_ritz(rank);
    scale_rows<Exec, Scalar>(exec_, roots_.data(), block_ref<Exec>(part(before_, 0, wanted_)),
                             block_ref<Exec>(result_));
    exec_.fence("Blockspan::multigrid_adaptive");
    return result_;
  }

 private:
  Vectors block(int columns) const {
    return allocate_zeros<Vectors>(exec_, "Blockspan::multigrid", n_, columns);
  }
  static Vectors part(Vectors const& X, int first, int count) {
    return Kokkos::subview(X, Kokkos::ALL, std::pair(first, first + count));
  }

  static Factors filled_with_ones(Exec const& exec, Factors const& ones) {
    Kokkos::deep_copy(exec, ones, real_t<Scalar>(1));
    return ones;
  }

  /// before_ := the lowest Ritz vectors of the basis, residual_ := their residuals; the previous X
  /// stays in the leading columns of the basis.
  void rayleigh_ritz(int rank) {
    auto const V = part(basis_, 0, rank), AV = part(image_, 0, rank);
    A_.apply(exec_, V, AV);
    auto const k = static_cast<std::size_t>(rank);
    SmallMatrix<Scalar> const G("Blockspan::multigrid", k, k);
    blockspan::gram(exec_, V, AV, G, workspace_);
    std::vector<real_t<Scalar>> values;
    if (lapack::hermitian_eigen(G, values) != 0) fail("blockspan::multigrid", "not finite");
    auto const C =
        Kokkos::subview(G, Kokkos::ALL, std::pair<std::size_t, std::size_t>(0, columns(rank)));
    auto const X = part(before_, 0, columns(rank)), R = part(residual_, 0, columns(rank));
    blockspan::combine(exec_, Scalar(1), V, C, Scalar(0), X, workspace_);
    blockspan::combine(exec_, Scalar(1), AV, C, Scalar(0), R, workspace_);
    SmallMatrix<Scalar> const L("Blockspan::multigrid", C.extent(1), C.extent(1));
    for (std::size_t j = 0; j < C.extent(1); ++j) L(j, j) = Scalar(values[j]);
    blockspan::combine(exec_, Scalar(-1), X, L, Scalar(1), R, workspace_);
  }
  int columns(int rank) const { return std::min(rank, width_); }

  /// The basis becomes [X T R P], where P is the component of X orthogonal to its predecessor.
  /// Returns its rank.
  int extend(bool with_directions) {
    auto const X = part(basis_, 0, width_), W = part(basis_, width_, width_),
               P = part(basis_, 2 * width_, width_);
    if (with_directions) {
      Kokkos::deep_copy(exec_, P, before_);
      blockspan::project_out(exec_, X, X, P, workspace_);
    }
    Kokkos::deep_copy(exec_, X, before_);
    // the smoother requires contiguous rows
    auto const smooth = part(image_, 0, width_);
    T_.apply(exec_, residual_, smooth);
    Kokkos::deep_copy(exec_, W, smooth);
    return blockspan::orthonormalize(exec_, part(basis_, 0, (with_directions ? 3 : 2) * width_),
                                     workspace_)
        .rank;
  }

  Exec exec_;
  std::int64_t n_;
  int wanted_, width_;
  LinearOperator<Scalar, Exec> const& A_;
  Factors roots_, ones_;
  ChebyshevPreconditioner<Scalar, Exec> T_;
  Vectors basis_, image_, before_, residual_, result_;
  Workspace<Exec> workspace_;
};

/// options.adaptive columns; see near_null_vectors. If the whole matrix is given, it is scaled
/// explicitly, since its product can perform a step of the polynomial in its kernel.
template <class Scalar, class Exec>
Block<Scalar, Exec> adaptive_vectors(
    Exec const& exec, MultigridOptions<Scalar, Exec> const& options,
    LinearOperator<Scalar, Exec> const& op, CrsMatrix<Scalar, Exec> const* matrix,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, real_t<Scalar> upper) {
  using Vectors = AdaptiveVectors<Scalar, Exec>;
  Communicator const ranks = op.row_space().communicator();
  auto const roots = ranks.run_agreed([&] {
    return allocate<typename Vectors::Factors>(exec, "Blockspan::multigrid", weights.extent(0));
  });
  each(
      exec, "Blockspan::multigrid_roots_of_weights", op.rows(),
      KOKKOS_LAMBDA(std::int64_t i) { roots(i) = Kokkos::sqrt(weights(i)); });
  auto const find = [&](LinearOperator<Scalar, Exec> const& scaled) {
    std::optional<Vectors> search;  // empty until all ranks have the memory
    ranks.run_agreed([&] { search.emplace(exec, scaled, roots, upper, options.adaptive); });
    return search->find(options.seed);
  };
  if (matrix == nullptr)
    return find(ScaledByRoots<Scalar, Exec, typename Vectors::Factors>(op, roots));
  return find(
      MatrixOperator<Scalar, Exec>(exec, scaled_by_roots<Scalar>(exec, *matrix, roots),
                                   SpmmPlanOptions{.columns = options.adaptive + adaptive_guards}));
}

}  // namespace blockspan::levels
