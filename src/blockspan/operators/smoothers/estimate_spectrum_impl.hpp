#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/column_sums.hpp>
#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/multivector/multivector.hpp>
#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/operators/entries/product_and_dot.hpp>
#include <blockspan/operators/spectral_bounds.hpp>
#include <blockspan/support/arena.hpp>
#include <blockspan/support/arithmetic.hpp>
#include <blockspan/support/lapack/lapack.hpp>

namespace blockspan::operators {

/// roots := W^1/2, z := W^1/2 u, and |u|^2.
template <class Scalar>
struct LanczosStart {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  Real const* weights;
  Real* roots;
  Scalar const* u;
  Scalar* z;

  struct Operands {
    Real weight;
    Scalar u;
  };
  KOKKOS_FORCEINLINE_FUNCTION bool down() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t) const {
    return {weights[i], u[i]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t, Operands const& at,
                                              Real* terms) const {
    Real const root = Kokkos::sqrt(at.weight);
    roots[i] = root;
    z[i] = root * at.u;
    terms[0] = squared_magnitude(at.u);
  }
};

/// The Lanczos vectors are u / |u|; y = A W^1/2 u, dot = u^H W^1/2 y and alpha = dot / |u|^2. One
/// step: before := (W^1/2 y - alpha u) / |u| - |u| before / |before|, z := W^1/2 before, and
/// |before|^2. After a vector of norm zero all later ones are zero.
template <class Scalar>
struct LanczosStep {
  using Real = real_t<Scalar>;
  static constexpr int count = 1;

  Real const* roots;
  Scalar const *y, *u;
  Scalar *before, *z;
  Scalar const* dot;
  Real const *norm, *norm_before;  ///< of u and of `before`; norm_before null: in the first step

  /// Includes the factors, which are the same for all rows: compilers can hoist their loads because
  /// nothing is written in between.
  struct Operands {
    Real root, scale, alpha, ratio;
    Scalar y, u, before;
  };
  KOKKOS_FORCEINLINE_FUNCTION bool down() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION Operands load(std::int64_t i, std::int64_t) const {
    Real const size = *norm, scale = size > 0 ? 1 / size : 0;
    bool const has_before = norm_before != nullptr && *norm_before > 0;
    return {roots[i],
            scale,
            real_part(*dot) * scale * scale,
            has_before ? size / *norm_before : Real(0),
            y[i],
            u[i],
            has_before ? before[i] : Scalar(0)};
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t i, std::int64_t, Operands const& at,
                                              Real* terms) const {
    Scalar const w = at.scale * (at.root * at.y - at.alpha * at.u) - at.ratio * at.before;
    before[i] = w;
    z[i] = at.root * w;
    terms[0] = squared_magnitude(w);
  }
};

/// The Lanczos process for W^1/2 A W^1/2, by the three-term recurrence. The host waits only once,
/// at the end.
template <class Scalar, class Exec>
class Lanczos {
 public:
  using Real = real_t<Scalar>;
  using Weights = typename JacobiPreconditioner<Scalar, Exec>::Factors;
  using Vector = Block<Scalar, Exec>;

  Lanczos(Exec const& exec, Arena<Exec>& arena, LinearOperator<Scalar, Exec> const& A,
          Weights const& weights, int steps, std::uint64_t seed)
      : exec_(exec),
        A_(A),
        rows_(static_cast<std::int64_t>(weights.extent(0))),
        reals_(scratch_array<Real>(exec, arena, padded() + steps + 1)),
        scalars_(scratch_array<Scalar>(exec, arena, 4 * padded() + steps)),
        u_(column(0)),
        before_(column(1)),
        y_(column(2)),
        z_(column(3)),
        dots_(scalars_.data() + 4 * padded(), steps),
        norms_(reals_.data() + padded(), steps + 1),
        workspace_(A.row_space()),
        start_{weights.data(), reals_.data(), u_.data(), z_.data()} {
    blockspan::fill_random(exec_, u_, seed, 0, workspace_.rows().first_row());
  }

  /// Called by all ranks, unlike the constructor.
  SpectrumEstimate<Real> run(int steps) {
    each_row(start_, 0);
    for (int j = 0; j < steps; ++j) {
      Scalars const dot(dots_.data() + j, 1);
      product_and_dot(exec_, A_, z_, y_, dot, workspace_);
      Real const* const norm = norms_.data() + j;
      each_row(LanczosStep<Scalar>{reals_.data(), y_.data(), u_.data(), before_.data(), z_.data(),
                                   dot.data(), norm, j > 0 ? norm - 1 : nullptr},
               j + 1);
      std::swap(u_, before_);
    }
    auto const norms = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), norms_);
    auto const dots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dots_);
    std::vector<Real> diagonal, off_diagonal;
    Real largest = 0;
    for (int j = 0; j < steps; ++j) {
      Real const scale = norms(j) > 0 ? 1 / norms(j) : Real(0);
      diagonal.push_back(real_part(dots(j)) * scale * scale);
      off_diagonal.push_back(norms(j + 1));
      if (!std::isfinite(diagonal.back()) || !std::isfinite(off_diagonal.back()))
        return {.steps = j + 1, .finite = false};
      largest = std::max({largest, std::abs(diagonal.back()), off_diagonal.back()});
      // the rest is rounding
      if (off_diagonal.back() <= 64 * unit_roundoff<Scalar> * largest) break;
    }
    return ritz_values(diagonal, off_diagonal);
  }

 private:
  using Reals = Array<Real, Exec>;
  using Scalars = Array<Scalar, Exec>;

  /// Columns begin at multiples of 16 elements, aligned for vectors of 16 bytes.
  std::size_t padded() const { return static_cast<std::size_t>(ceil_div(rows_, 16) * 16); }
  Vector column(std::size_t k) const {
    return Vector(scalars_.data() + k * padded(), static_cast<std::size_t>(rows_), 1);
  }

  /// Applies terms to all rows; the square root of the sum is stored in norms_[entry].
  template <class Terms>
  void each_row(Terms const& terms, int entry) {
    reduce_columns(exec_, "Blockspan::lanczos", terms, local_chunks(rows_, workspace_), 1,
                   StoreRoots<Real>{{norms_.data() + entry, 1, 1, 1, 1}}, workspace_);
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
  Reals reals_;      ///< W^1/2, then the norms
  Scalars scalars_;  ///< four columns, then the dots
  Vector u_, before_, y_, z_;
  Scalars dots_;  ///< one per step
  Reals norms_;   ///< |u| at the start and after every step
  Workspace<Exec> workspace_;
  LanczosStart<Scalar> start_;
};

template <class Scalar, class Exec>
SpectrumEstimate<real_t<Scalar>> estimate_spectrum(
    Exec const& exec, Arena<Exec>& arena, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, int steps,
    std::uint64_t seed) {
  char const* const where = "blockspan::estimate_spectrum";
  require(static_cast<std::int64_t>(weights.extent(0)) == A.rows(), where, "the operator has ",
          A.rows(), " rows, there are ", weights.extent(0), " weights");
  require(steps >= 1, where, steps, " steps; at least one is needed");
  std::int64_t const n = A.row_space().global_rows(A.rows());
  if (n == 0) return {};
  steps = static_cast<int>(std::min<std::int64_t>(steps, n));
  std::optional<Lanczos<Scalar, Exec>> lanczos;  // empty until all ranks have the memory
  Communicator const ranks = A.row_space().communicator();
  ranks.run_agreed([&] { lanczos.emplace(exec, arena, A, weights, steps, seed); });
  auto const result = lanczos->run(steps);
  exec.fence("Blockspan::estimate_spectrum");  // the arena frees its memory on return
  return result;
}

}  // namespace blockspan::operators

namespace blockspan {

template <class Scalar, class Exec>
SpectrumEstimate<real_t<Scalar>> estimate_spectrum(
    Exec const& exec, LinearOperator<Scalar, Exec> const& A,
    typename JacobiPreconditioner<Scalar, Exec>::Factors const& weights, int steps,
    std::uint64_t seed) {
  support::Arena<Exec> arena("Blockspan::lanczos");
  return operators::estimate_spectrum(exec, arena, A, weights, steps, seed);
}

}  // namespace blockspan
