#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/multivector/detail/over_ranks.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/detail/matrix_measures.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack.hpp>
#include <blockspan/support/memory.hpp>

namespace blockspan::detail {

template <class Real>
struct SquareRoots {
  Real const* weights;
  Real* roots;
  std::int64_t rows;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < rows) roots[i] = Kokkos::sqrt(weights[i]);
  }
};

/// before := W^1/2 y - alpha v - beta before, and alpha among the entries: by index 0, which is
/// there on a rank without rows too.
template <class Scalar>
struct LanczosRecurrence {
  using Real = real_t<Scalar>;
  Real const* roots;
  Scalar const *y, *v;
  Scalar* before;
  Scalar const* alpha;
  Real const* beta;  ///< null: none yet
  Real* entry;
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Real const a = real_part(*alpha);
    if (i == 0) *entry = a;
    if (i >= rows) return;
    Scalar w = roots[i] * y[i] - a * v[i];
    if (beta != nullptr) w -= *beta * before[i];
    before[i] = w;
  }
};

/// v := v / norm, z := W^1/2 v, and the norm among the entries; a vector of norm zero stays.
template <class Scalar>
struct LanczosVector {
  using Real = real_t<Scalar>;
  Real const *roots, *norm;
  Scalar *v, *z;
  Real* entry;  ///< null: not kept
  std::int64_t rows;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Real const size = *norm;
    if (i == 0 && entry != nullptr) *entry = size;
    if (i >= rows) return;
    Scalar const next = size > 0 ? v[i] * (1 / size) : v[i];
    v[i] = next;
    z[i] = roots[i] * next;
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
          int steps)
      : exec_(exec),
        A_(A),
        rows_(static_cast<std::int64_t>(weights.extent(0))),
        reals_(allocate<Reals>(exec, "Blockspan::lanczos", rows_ + 2 * steps + 1)),
        scalars_(allocate<Scalars>(exec, "Blockspan::lanczos", 4 * padded() + 1)),
        v_(column(0)),
        before_(column(1)),
        y_(column(2)),
        z_(column(3)),
        dot_(scalars_.data() + 4 * padded(), 1),
        norm_(reals_.data() + rows_, 1),
        entries_(reals_.data() + rows_ + 1, 2 * steps),
        workspace_(A.row_space()) {
    each_row(SquareRoots<Real>{weights.data(), reals_.data(), rows_});
  }

  SpectrumEstimate<Real> run(int steps, std::uint64_t seed) {
    blockspan::fill_random(exec_, v_, seed, 0, workspace_.rows().first_row());
    normalise(nullptr);
    for (int j = 0; j < steps; ++j) {
      Real* const entry = entries_.data() + 2 * j;
      if (workspace_.rows().gives_one_node() && A_.apply_dots(exec_, z_, y_, {}, dot_, {})) {
        gram_over_ranks<Exec, Scalar>(exec_, {BlockRef<Scalar>{dot_.data(), 1, 1, 1, 1}}, rows_,
                                      workspace_);
      } else {
        A_.apply(exec_, z_, y_);
        blockspan::column_dots(exec_, z_, y_, dot_, workspace_);
      }
      each_row(LanczosRecurrence<Scalar>{reals_.data(), y_.data(), v_.data(), before_.data(),
                                         dot_.data(), j > 0 ? entry - 1 : nullptr, entry, rows_});
      std::swap(v_, before_);
      normalise(entry + 1);
    }
    auto const entries = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries_);
    std::vector<Real> diagonal, off_diagonal;
    Real largest = 0;
    for (int j = 0; j < steps; ++j) {
      diagonal.push_back(entries(2 * j));
      off_diagonal.push_back(entries(2 * j + 1));
      if (!std::isfinite(diagonal.back()) || !std::isfinite(off_diagonal.back()))
        return {.steps = j + 1, .finite = false};
      largest = std::max({largest, std::abs(diagonal.back()), off_diagonal.back()});
      // what is left is rounding
      if (off_diagonal.back() <= 64 * unit_roundoff<Scalar> * largest) break;
    }
    return ritz_values(diagonal, off_diagonal);
  }

 private:
  using Reals = Kokkos::View<Real*, typename Exec::memory_space>;
  using Scalars = Kokkos::View<Scalar*, typename Exec::memory_space>;

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

  void normalise(Real* entry) {
    blockspan::column_norms(exec_, v_, norm_, workspace_);
    each_row(
        LanczosVector<Scalar>{reals_.data(), norm_.data(), v_.data(), z_.data(), entry, rows_});
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
  Reals reals_;      ///< W^1/2, a norm, entries: an allocation on a device takes as long as steps
  Scalars scalars_;  ///< four columns and a dot
  Vector v_, before_, y_, z_;
  Scalars dot_;
  Reals norm_, entries_;
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
  detail::Lanczos<Scalar, Exec> lanczos(exec, A, weights, steps);
  auto const result = lanczos.run(steps, seed);
  exec.fence("Blockspan::estimate_spectrum");  // its memory is freed on return
  return result;
}

}  // namespace blockspan
