#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/operators/detail/product_and_dot.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/scratch_arrays.hpp>

namespace blockspan::detail {

/// roots := W^1/2, z := W^1/2 u.
template <class Scalar>
struct LanczosStart {
  real_t<Scalar> const* weights;
  real_t<Scalar>* roots;
  Scalar const* u;
  Scalar* z;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i >= rows) return;
    roots[i] = Kokkos::sqrt(weights[i]);
    z[i] = roots[i] * u[i];
  }
};

/// The vectors of the process are u / |u|, y = A W^1/2 u and dot = u^H W^1/2 y. One step:
/// before := (W^1/2 y - alpha u) / |u| - |u| before / |before|, z := W^1/2 of it, and
/// alpha = dot / |u|^2 among the entries: by index 0, which is there on a rank without rows too. A
/// vector of norm zero is followed by others.
template <class Scalar>
struct LanczosStep {
  using Real = real_t<Scalar>;
  Real const* roots;
  Scalar const *y, *u;
  Scalar *before, *z;
  Scalar const* dot;
  Real const *norm, *norm_before;  ///< the second one null: there is no vector before
  Real* alpha;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Real const size = *norm, scale = size > 0 ? 1 / size : 0;
    Real const a = real_part(*dot) * scale * scale;
    if (i == 0) *alpha = a;
    if (i >= rows) return;
    Scalar w = scale * (roots[i] * y[i] - a * u[i]);
    if (norm_before != nullptr && *norm_before > 0) w -= size / *norm_before * before[i];
    before[i] = w;
    z[i] = roots[i] * w;
  }
};

/// The Lanczos process for W^1/2 A W^1/2, by its recurrence of three vectors. The host waits once,
/// at the end.
template <class Scalar, class Exec>
class Lanczos {
 public:
  using Real = real_t<Scalar>;
  using Weights = typename JacobiPreconditioner<Scalar, Exec>::Factors;
  using Vector = Block<Scalar, Exec>;

  Lanczos(Exec const& exec, LinearOperator<Scalar, Exec> const& A, Weights const& weights,
          int steps, std::uint64_t seed)
      : exec_(exec),
        A_(A),
        rows_(static_cast<std::int64_t>(weights.extent(0))),
        reals_(scratch_array<Real>(exec, "Blockspan::lanczos", padded() + 2 * steps + 1)),
        scalars_(scratch_array<Scalar>(exec, "Blockspan::lanczos", 4 * padded() + 1)),
        u_(column(0)),
        before_(column(1)),
        y_(column(2)),
        z_(column(3)),
        dot_(scalars_.data() + 4 * padded(), 1),
        entries_(reals_.data() + padded(), 2 * steps + 1),
        workspace_(A.row_space()) {
    blockspan::fill_random(exec_, u_, seed, 0, workspace_.rows().first_row());
    each_row(LanczosStart<Scalar>{weights.data(), reals_.data(), u_.data(), z_.data(), rows_});
    take_norm(0);
  }

  SpectrumEstimate<Real> run(int steps) {
    for (int j = 0; j < steps; ++j) {
      product_and_dot(exec_, A_, z_, y_, dot_, workspace_);
      Real* const norm = entries_.data() + 2 * j;
      each_row(LanczosStep<Scalar>{reals_.data(), y_.data(), u_.data(), before_.data(), z_.data(),
                                   dot_.data(), norm, j > 0 ? norm - 2 : nullptr, norm + 1, rows_});
      std::swap(u_, before_);
      take_norm(2 * (j + 1));
    }
    auto const entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries_);
    std::vector<Real> diagonal, off_diagonal;
    Real largest = 0;
    for (int j = 0; j < steps; ++j) {
      diagonal.push_back(entries(2 * j + 1));
      off_diagonal.push_back(entries(2 * j + 2));
      if (!std::isfinite(diagonal.back()) || !std::isfinite(off_diagonal.back()))
        return {.steps = j + 1, .finite = false};
      largest = std::max({largest, std::abs(diagonal.back()), off_diagonal.back()});
      // what is left is rounding
      if (off_diagonal.back() <= 64 * unit_roundoff<Scalar> * largest) break;
    }
    return ritz_values(diagonal, off_diagonal);
  }

 private:
  using Reals = Array<Real, Exec>;
  using Scalars = Array<Scalar, Exec>;

  /// Columns begin where vectors of 16 bytes are aligned.
  std::size_t padded() const { return static_cast<std::size_t>(ceil_div(rows_, 16) * 16); }
  Vector column(std::size_t k) const {
    return Vector(scalars_.data() + k * padded(), static_cast<std::size_t>(rows_), 1);
  }

  /// At least index 0.
  template <class Body>
  void each_row(Body const& body) {
    Kokkos::parallel_for("Blockspan::lanczos",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec_, 0, std::max<std::int64_t>(rows_, 1)),
                         body);
  }

  /// Of u, among the entries.
  void take_norm(int entry) {
    blockspan::column_norms(exec_, u_, Reals(entries_.data() + entry, 1), workspace_);
  }

  static SpectrumEstimate<Real> ritz_values(std::vector<Real> const& diagonal,
                                            std::vector<Real> const& off_diagonal) {
    auto const m = diagonal.size();
    SmallMatrix<Real> const T("Blockspan::lanczos", m, m);
    for (std::size_t j = 0; j < m; ++j) {
      T(j, j) = diagonal[j];
      if (j + 1 < m) T(j + 1, j) = T(j, j + 1) = off_diagonal[j];
    }
    std::vector<Real> values;
    int const steps = static_cast<int>(m);
    if (lapack::hermitian_eigen(T, values) != 0) return {.steps = steps, .finite = false};
    Real const residual = off_diagonal.back() * std::abs(T(m - 1, m - 1));
    return {values.front(), values.back(), residual, steps, true};
  }

  Exec exec_;
  LinearOperator<Scalar, Exec> const& A_;
  std::int64_t rows_;
  Reals reals_;      ///< W^1/2, and the entries
  Scalars scalars_;  ///< four columns and a dot
  Vector u_, before_, y_, z_;
  Scalars dot_;
  Reals entries_;  ///< |u|, and then alpha and the next |u| of every step
  Workspace<Exec> workspace_;
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
  detail::Lanczos<Scalar, Exec> lanczos(exec, A, weights, steps, seed);
  auto const result = lanczos.run(steps);
  exec.fence("Blockspan::estimate_spectrum");  // its memory is freed on return
  return result;
}

}  // namespace blockspan
