#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

template <class Real>
struct SquareRoots {
  Real const* weights;
  Real* roots;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { roots[i] = Kokkos::sqrt(weights[i]); }
};

/// The Lanczos process for W^1/2 A W^1/2 with a basis kept orthonormal.
template <class Scalar, class Exec>
class Lanczos {
 public:
  using Real = real_t<Scalar>;
  using Weights = typename JacobiPreconditioner<Scalar, Exec>::Factors;

  Lanczos(Exec const& exec, LinearOperator<Scalar, Exec> const& A, Weights const& weights,
          int steps)
      : exec_(exec),
        A_(A),
        roots_(allocate<decltype(roots_)>(exec, "Blockspan::lanczos", weights.extent(0))),
        basis_(
            allocate<decltype(basis_)>(exec, "Blockspan::lanczos", weights.extent(0), steps + 1)),
        work_(allocate<decltype(work_)>(exec, "Blockspan::lanczos", weights.extent(0), 1)),
        workspace_(A.row_space()) {
    Kokkos::parallel_for("Blockspan::lanczos_weights",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, static_cast<std::int64_t>(weights.extent(0))),
                         SquareRoots<Real>{weights.data(), roots_.data()});
  }

  /// At most `steps` of them.
  SpectrumEstimate<Real> run(int steps, std::uint64_t seed) {
    blockspan::fill_random(exec_, column(0), seed, 0, workspace_.rows().first_row());
    normalise(column(0));
    for (int j = 0; j < steps; ++j) {
      auto const next = column(j + 1);
      multiply(column(j), next);
      diagonal_.push_back(orthogonalise(next, j + 1));
      off_diagonal_.push_back(normalise(next));
      largest_ = std::max({largest_, std::abs(diagonal_.back()), off_diagonal_.back()});
      if (!std::isfinite(diagonal_.back()) || !std::isfinite(off_diagonal_.back()))
        return {.steps = j + 1, .finite = false};
      if (off_diagonal_.back() <= 8 * unit_roundoff<Scalar> * largest_)
        break;  // what is left is rounding
    }
    return ritz_values();
  }

 private:
  Block<Scalar, Exec> column(int j) const { return column_range(basis_, j, 1); }

  /// y = W^1/2 A W^1/2 x.
  void multiply(Block<Scalar, Exec> const& x, Block<Scalar, Exec> const& y) {
    scale_rows<Exec, Scalar>(exec_, roots_.data(), block_ref<Exec>(x), block_ref<Exec>(work_));
    A_.apply(exec_, work_, y);
    scale_rows<Exec, Scalar>(exec_, roots_.data(), block_ref<Exec>(y), block_ref<Exec>(y));
  }

  /// x -= V V^H x for the first `count` vectors V, twice; returns the last entry of V^H x.
  Real orthogonalise(Block<Scalar, Exec> const& x, int count) {
    auto const V = column_range(basis_, 0, count);
    SmallMatrix<Scalar> const c("Blockspan::lanczos", static_cast<std::size_t>(count), 1);
    Real last = 0;
    for (int pass = 0; pass < 2; ++pass) {
      blockspan::gram(exec_, V, x, c, workspace_);
      last += real_part(c(static_cast<std::size_t>(count - 1), 0));
      blockspan::combine(exec_, Scalar(-1), V, c, Scalar(1), x, workspace_);
    }
    return last;
  }

  /// Its norm before; a vector of norm zero stays.
  Real normalise(Block<Scalar, Exec> const& x) {
    Kokkos::View<Real*, Kokkos::HostSpace> const norm("Blockspan::lanczos", 1);
    blockspan::column_norms(exec_, x, norm, workspace_);
    Real const before = norm(0);
    if (before > 0) {
      norm(0) = 1 / before;
      blockspan::scale_columns(exec_, norm, x);
    }
    return before;
  }

  SpectrumEstimate<Real> ritz_values() const {
    auto const m = diagonal_.size();
    SmallMatrix<Real> const T("Blockspan::lanczos", m, m);
    for (std::size_t j = 0; j < m; ++j) {
      T(j, j) = diagonal_[j];
      if (j + 1 < m) T(j + 1, j) = T(j, j + 1) = off_diagonal_[j];
    }
    std::vector<Real> values;
    int const steps = static_cast<int>(m);
    if (lapack::hermitian_eigen(T, values) != 0) return {.steps = steps, .finite = false};
    Real const residual = off_diagonal_.back() * std::abs(T(m - 1, m - 1));
    return {values.front(), values.back(), residual, steps, true};
  }

  Exec exec_;
  LinearOperator<Scalar, Exec> const& A_;
  Weights roots_;
  Block<Scalar, Exec> basis_, work_;
  Workspace<Exec> workspace_;
  std::vector<Real> diagonal_, off_diagonal_;  ///< of the tridiagonal matrix
  Real largest_ = 0;
};

}  // namespace blockspan::detail

namespace blockspan {

template <class Scalar, class Exec>
SpectrumEstimate<real_t<Scalar>> estimate_spectrum(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, int steps,
    std::uint64_t seed) {
  char const* const where = "blockspan::estimate_spectrum";
  require(static_cast<std::int64_t>(weights.extent(0)) == A.rows(), where, "the operator has ",
          A.rows(), " rows, there are ", weights.extent(0), " weights");
  require(steps >= 1, where, steps, " steps; at least one is needed");
  std::int64_t const n = A.row_space().global_rows(A.rows());
  if (n == 0) return {};
  steps = static_cast<int>(std::min<std::int64_t>(steps, n));
  detail::Lanczos<Scalar, Exec> lanczos(exec, A, weights, steps);
  auto const result = lanczos.run(steps, seed);
  exec.fence("Blockspan::estimate_spectrum");  // its memory is freed on return
  return result;
}

}  // namespace blockspan
