#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <blockspan/operators/entries/matrix_measures.hpp>
#include <blockspan/solvers/common/finite_columns.hpp>
#include <blockspan/solvers/common/small_dense.hpp>
#include <blockspan/solvers/lobpcg/subspace/basis.hpp>
#include <blockspan/solvers/lobpcg/subspace/problem.hpp>
#include <blockspan/solvers/lobpcg/subspace/residuals.hpp>
#include <blockspan/solvers/lobpcg/subspace/subspace.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::eigen {

/// What Lanczos shows of the lower end of an operator's spectrum.
template <class Real>
struct LowerEnd {
  Real ritz = 0;      ///< the least Ritz value: no eigenvalue is certain to be above it
  Real residual = 0;  ///< some eigenvalue is within this of it
  Real top = 0;       ///< the largest Ritz value
};

/// Twenty steps of Lanczos from a random vector on image(V, W): W = Op V, Hermitian; each new
/// vector is orthogonalized twice against the last two, which is enough for the ends of the
/// spectrum (Parlett, The Symmetric Eigenvalue Problem, 1998, doi:10.1137/1.9781611971163, chapter
/// 13). Uses three columns of S, one of BS, and two of AS in the image. Nothing if a value is not
/// finite.
template <class Scalar, class Exec, class Image>
std::optional<LowerEnd<real_t<Scalar>>> lower_end(Problem<Scalar, Exec>& problem,
                                                  Basis<Scalar, Exec> const& basis,
                                                  Image const& image) {
  using Real = real_t<Scalar>;
  int const most = static_cast<int>(std::min<std::int64_t>(20, problem.used_rows() - 1));
  auto const V = [&](int step) { return column_range(basis.s, step % 2, 1); };
  auto const next = column_range(basis.s, 2, 1), W = column_range(basis.bs, 0, 1);
  std::vector<Real> diagonal, beside;
  problem.randomize(V(0));
  blockspan::orthonormalize(problem.exec, V(0), problem.workspace);
  auto const entry = small_matrix<Scalar>(1, 1);
  for (int steps = 0; steps < most; ++steps) {
    image(V(steps), W);
    blockspan::gram(problem.exec, V(steps), W, entry, problem.workspace);
    diagonal.push_back(real_part(entry(0, 0)));
    Real const size = problem.norms(W)[0];
    Kokkos::deep_copy(problem.exec, next, W);
    auto const last = column_range(basis.s, 0, std::min(steps + 1, 2));
    for (int pass = 0; pass < 2; ++pass)
      blockspan::project_out(problem.exec, last, last, next, problem.workspace);
    beside.push_back(problem.norms(next)[0]);
    if (!std::isfinite(diagonal.back()) || !std::isfinite(beside.back())) return std::nullopt;
    // What is left of a vector that lay in the span is rounding.
    if (!(beside.back() > std::sqrt(Thresholds<Real>::u) * size)) break;
    Kokkos::deep_copy(problem.exec, V(steps + 1), next);
    if (blockspan::orthonormalize(problem.exec, V(steps + 1), problem.workspace).rank < 1) break;
  }
  int const steps = static_cast<int>(diagonal.size());
  if (steps == 0) return std::nullopt;
  auto const T = small_matrix<Scalar>(steps, steps);
  Kokkos::deep_copy(T, Scalar(0));
  for (int i = 0; i < steps; ++i) {
    T(i, i) = diagonal[i];
    if (i > 0) T(i - 1, i) = T(i, i - 1) = beside[i - 1];
  }
  std::vector<Real> ritz;
  if (lapack::hermitian_eigen(T, ritz) != 0) return std::nullopt;
  Real const residual = beside.back() * Kokkos::abs(T(steps - 1, 0));
  return LowerEnd<Real>{ritz[0], residual, ritz.back()};
}

/// The lower end of B, its diagonal scaled to one, or of a lifted B (see MassNorm), by Lanczos.
template <class Scalar, class Exec>
std::optional<LowerEnd<real_t<Scalar>>> lower_end_of_mass(
    Problem<Scalar, Exec>& problem, Basis<Scalar, Exec> const& basis,
    MassNorm<real_t<Scalar>, typename Problem<Scalar, Exec>::RowValues> const& mass) {
  auto const scale = [&](Block<Scalar, Exec> const& V, Block<Scalar, Exec> const& W) {
    operators::scale_rows<Exec, Scalar>(problem.exec, mass.roots.data(), block_ref<Exec>(V),
                                        block_ref<Exec>(W));
  };
  auto const image = [&](Block<Scalar, Exec> const& V, Block<Scalar, Exec> const& W) {
    if (!problem.knows_mass_diagonal()) return problem.apply_b(V, W);
    auto const scaled = column_range(basis.as, 0, 1), of_a = column_range(basis.as, 1, 1);
    scale(V, scaled);
    problem.apply_b(scaled, W);
    if (mass.lift > 0) {
      problem.apply_a(scaled, of_a);
      add_scaled(problem.exec, mass.lift, of_a, W);
    }
    scale(W, W);
  };
  return lower_end(problem, basis, image);
}

/// A bound of the least eigenvalue from below, as far as Lanczos shows.
template <class Real>
Real least_eigenvalue(LowerEnd<Real> const& end) {
  return std::max(end.ritz - end.residual, end.ritz / 4);
}

/// Prepares the norm of B^-1: weights 1 / b_ii where B knows its diagonal, and a factor from the
/// least eigenvalue of B with its diagonal scaled to one, by Lanczos (an estimate, low by its
/// residual; exact for a diagonal B); the lifted one beside it where rows ask for it. A status
/// where B is not positive definite.
template <class Scalar, class Exec>
std::optional<Status> measure_mass(Problem<Scalar, Exec>& problem,
                                   Basis<Scalar, Exec> const& basis) {
  using Real = real_t<Scalar>;
  if (auto const trouble = problem.take_mass_diagonal()) return trouble;
  auto const end = lower_end_of_mass(problem, basis, problem.mass);
  if (!end) return std::nullopt;
  Real const top = problem.knows_mass_diagonal() ? end->top : problem.norm_b;
  if (end->ritz < -Thresholds<Real>::indefinite * top) return Status::mass_not_positive_definite;
  Real const least = least_eigenvalue(*end);
  problem.set_mass_norm(least > 0 ? 1 / std::sqrt(least) : std::numeric_limits<Real>::infinity());
  if (Real const lift = problem.knows_mass_diagonal() ? problem.possible_lift() : Real(0);
      lift > 0) {
    problem.take_lifted_diagonal(lift);
    auto const mark = problem.random_mark();  // keeps the random start of the iteration
    auto const of_lifted = lower_end_of_mass(problem, basis, *problem.lifted);
    problem.rewind_random(mark);
    if (of_lifted && least_eigenvalue(*of_lifted) > 0)
      problem.lifted->factor = 1 / std::sqrt(least_eigenvalue(*of_lifted));
    else
      problem.lifted.reset();
  }
  return std::nullopt;
}

/// Bound of the angle by which rounding may rotate the span of `rank` vectors with these products
/// during orthonormalization: that of one vector, divided by the least singular value of the
/// normalized vectors, as far as the products show.
template <class Scalar>
real_t<Scalar> angle_of_span(SmallMatrix<Scalar> const& products, int rank) {
  using Real = real_t<Scalar>;
  constexpr Real u = Thresholds<Real>::u;
  int const count = static_cast<int>(products.extent(0));
  Real const angle = 4 * u;
  if (rank < 2) return angle;
  std::vector<Real> lengths, squares;
  for (int j = 0; j < count; ++j) lengths.push_back(std::sqrt(real_part(products(j, j))));
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < count; ++i) {
      Real const size = lengths[i] * lengths[j];
      products(i, j) = size > 0 ? products(i, j) / size : Scalar(0);
    }
  bool const known = all_finite(products) && lapack::hermitian_eigen(products, squares) == 0;
  Real const noise = static_cast<Real>(count) * u;
  Real const least = known ? std::max(squares[count - rank], noise) : noise;
  return angle + 16 * static_cast<Real>(count) * u / std::sqrt(least);
}

/// Throws Error where sizes and options clash.
template <class Scalar, class Exec>
void check_arguments(LinearOperator<Scalar, Exec> const& A, LinearOperator<Scalar, Exec> const* B,
                     Block<Scalar, Exec> const& X, LobpcgOptions<Scalar, Exec> const& options) {
  constexpr auto where = "lobpcg";
  options.validate();
  std::int64_t const n = A.rows(), m = X.extent(1), order = A.row_space().global_rows(n);
  require(static_cast<std::int64_t>(X.extent(0)) == n, where, "X has ", X.extent(0),
          " rows, A has order ", n);
  require(!B || B->rows() == n, where, "B has order ", B ? B->rows() : 0, ", A has order ", n);
  auto const* T = options.preconditioner;
  require(!T || T->rows() == n, where, "the preconditioner has order ", T ? T->rows() : 0,
          ", A has order ", n);
  require(options.wanted <= m, where, options.wanted, " pairs wanted, but X has ", m, " columns");
  require(options.wanted <= order, where, options.wanted, " pairs wanted of a problem of order ",
          order);
  require(options.guess_columns <= m, where, "guess_columns is ", options.guess_columns,
          ", but X has ", m, " columns");
  require(options.block <= m, where, "block is ", options.block, ", but X has ", m, " columns");
  std::int64_t const c = options.constraints.extent(1);
  require(c == 0 || static_cast<std::int64_t>(options.constraints.extent(0)) == n, where,
          "the constraints have ", options.constraints.extent(0), " rows, A has order ", n);
  require(options.wanted <= order - c, where, options.wanted,
          " pairs wanted of a problem of order ", order, " with ", c, " constraints");
  if (!A.row_space().distributed()) return;
  require(!B || B->row_space() == A.row_space(), where,
          "the rows of A and B are not spread over the ranks alike");
}

/// Throws Error, on all ranks, where a start or a constraint has NaN or Inf.
template <class Scalar, class Exec>
void require_finite_vectors(Problem<Scalar, Exec>& problem, Block<Scalar, Exec> const& X,
                            LobpcgOptions<Scalar, Exec> const& options) {
  auto const require_finite = [&](char const* what, auto const& vectors) {
    solvers::require_finite(problem, "lobpcg", what, BlockRef<Scalar const>(vectors));
  };
  int const given = options.resume.empty() ? options.guess_columns : 0;
  require_finite("the start X", block_ref<Exec>(column_range(X, 0, given)));
  require_finite("the constraints", block_ref<Exec>(options.constraints));
}

/// Powers of two that bring columns with these largest entries to about one; zero for those of
/// zeros.
template <class Real>
std::vector<Real> reciprocal_powers(std::vector<Real> const& largest) {
  std::vector<Real> factors;
  constexpr int most = std::numeric_limits<Real>::max_exponent - 1;
  for (Real const entry : largest)
    factors.push_back(entry > 0 ? std::ldexp(Real(1), std::min(most, -std::ilogb(entry)))
                                : Real(0));
  return factors;
}

/// Puts the caller's constraints into problem.deflation: columns scaled by powers of two, made
/// B-orthonormal, those without a direction of their own dropped. The norms and scales of the
/// problem must be set. The columns are finite. Fences exec.
template <class Scalar, class Exec>
std::optional<Status> take_constraints(Problem<Scalar, Exec>& problem,
                                       ConstBlock<Scalar, Exec> const& given) {
  int const count = static_cast<int>(given.extent(1));
  if (count == 0) return std::nullopt;
  auto const Y = problem.deflation.y(0, count), BY = problem.deflation.by(0, count);
  problem.take_given(Y, given);
  problem.scale_each(Y, reciprocal_powers(problem.largest_entries(Y)));
  if (problem.generalized()) {
    problem.apply_b(Y, BY);
    if (auto const trouble = problem.trouble_of_mass(Y, BY)) return trouble;
  }
  auto const products = small_matrix<Scalar>(count, count);
  blockspan::gram(problem.exec, Y, problem.generalized() ? BY : Y, products, problem.workspace);
  int const rank = problem.orthonormalize(Y, BY);
  problem.deflation.set_angle(angle_of_span(products, rank));
  if (problem.generalized() && rank > 0)
    problem.apply_b(problem.deflation.y(0, rank), problem.deflation.by(0, rank));
  problem.deflation.resize(rank);
  return std::nullopt;
}

/// Op V for a random orthonormal V, rescaled by a power of two so that extreme values do no harm.
template <class Scalar, class Exec>
class SampledImage {
 public:
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  SampledImage(Problem<Scalar, Exec>& problem, View const& V, View const& image)
      : problem_(problem), v_(V), image_(image) {
    Real largest = 0;
    for (Real const entry : problem.largest_entries(image)) {
      if (!std::isfinite(entry)) finite_ = false;
      largest = std::max(largest, entry);
    }
    if (!finite_ || !(largest >= std::numeric_limits<Real>::min())) return;
    factor_ = std::ldexp(Real(1), -std::ilogb(largest));
    problem.scale(image, factor_);
  }

  bool finite() const { return finite_; }

  /// Twice the largest ||Op v||: an estimate of ||Op||.
  Real norm() const {
    auto const norms = problem_.norms(image_);
    return 2 * *std::max_element(norms.begin(), norms.end()) / factor_;
  }

  /// ||V^H Op V - (V^H Op V)^H||_F / norm.
  Real skew(Real norm) const {
    int const m = static_cast<int>(v_.extent(1));
    auto const M = small_matrix<Scalar>(m, m);
    blockspan::gram(problem_.exec, v_, image_, M, problem_.workspace);
    return norm > 0 ? skew_norm(M) / (norm * factor_) : Real(0);
  }

 private:
  Problem<Scalar, Exec>& problem_;
  View v_, image_;
  Real factor_ = 1;
  bool finite_ = true;
};

/// Norms, scales, and the checks of the operators before the first iteration, on one random
/// orthonormal block; an answer that is not finite is asked for once more.
template <class Scalar, class Exec>
std::optional<Status> check_operators(Problem<Scalar, Exec>& problem,
                                      Basis<Scalar, Exec> const& basis, bool check_hermitian) {
  using Real = real_t<Scalar>;
  using Image = SampledImage<Scalar, Exec>;
  // A single vector sees no skew part of a real operator.
  int const probes = std::max<int>(basis.m, std::min<std::int64_t>(2, problem.global_rows()));
  auto const V = column_range(basis.s, 0, probes);
  problem.randomize(V);
  blockspan::orthonormalize(problem.exec, V, problem.workspace);
  // Known norms give the scales directly; else the two images use the operators as given.
  auto const [bound_a, bound_b] = problem.norm_bounds();
  bool const known = problem.take_known_norms();
  auto const sample = [&](bool mass) {
    auto const image = column_range(mass ? basis.bs : basis.as, 0, probes);
    for (int attempt = 0;; ++attempt) {
      mass ? problem.apply_b(V, image) : problem.apply_a(V, image);
      Image const sampled(problem, V, image);
      if (sampled.finite() || attempt == 1) return sampled;
    }
  };
  Image const a = sample(false);
  if (!a.finite()) return Status::operator_not_finite;
  Real const norm_a = known ? problem.norm_a : bound_a.value_or(a.norm());
  Real norm_b = 1, skew = check_hermitian ? a.skew(norm_a) : Real(0);
  if (problem.generalized()) {
    Image const b = sample(true);
    if (!b.finite()) return Status::operator_not_finite;
    norm_b = known ? problem.norm_b : bound_b.value_or(b.norm());
    if (check_hermitian) skew = std::max(skew, b.skew(norm_b));
  }
  if (!std::isfinite(norm_a) || !std::isfinite(norm_b)) return Status::operator_not_finite;
  if (!known) problem.set_norms(norm_a, norm_b);
  if (!(skew <= Thresholds<Real>::skew)) return Status::operator_not_hermitian;
  return problem.generalized() ? measure_mass(problem, basis) : std::nullopt;
}

/// How far one step along every column of D takes the Rayleigh quotients down:
/// |d^H r|^2 / d^H (A - theta B) d, infinite along negative curvature. AD, BD are overwritten.
template <class Scalar, class Exec>
std::vector<real_t<Scalar>> descent(Problem<Scalar, Exec>& problem,
                                    std::vector<real_t<Scalar>> const& theta,
                                    Block<Scalar, Exec> const& R, Block<Scalar, Exec> const& D,
                                    Block<Scalar, Exec> const& AD, Block<Scalar, Exec> const& BD) {
  using Real = real_t<Scalar>;
  std::size_t const m = D.extent(1);
  using Dots = Kokkos::View<Scalar*, Kokkos::HostSpace>;
  Dots const dr("dr", m), ad("ad", m), bd("bd", m);
  blockspan::column_dots(problem.exec, D, R, dr, problem.workspace);
  problem.apply_a(D, AD);
  blockspan::column_dots(problem.exec, D, AD, ad, problem.workspace);
  if (problem.generalized()) problem.apply_b(D, BD);
  blockspan::column_dots(problem.exec, D, problem.generalized() ? BD : D, bd, problem.workspace);
  std::vector<Real> result;
  for (std::size_t j = 0; j < m; ++j) {
    Real const along = squared_magnitude(dr(j));
    Real const curvature = problem.sign * real_part(ad(j)) - theta[j] * real_part(bd(j));
    result.push_back(curvature > 0 ? along / curvature : std::numeric_limits<Real>::infinity());
  }
  return result;
}

/// Whether the residuals themselves would take most of the leading `wanted` Ritz values further
/// down than T R does, by a factor of four: T then favours another part of the spectrum. Overwrites
/// P and W. Two products with a block.
template <class Scalar, class Exec>
bool preconditioner_harms(Subspace<Scalar, Exec>& space, int wanted) {
  auto& problem = space.problem;
  auto const& basis = space.basis;
  auto const& theta = space.theta;
  int const m = basis.m;
  auto const place = [&](Block<Scalar, Exec> const& block, int section) {
    return column_range(block, section * m, m);
  };
  auto const R = place(basis.s, 2), W = place(basis.as, 2);
  residuals(problem, basis.x_and_images(), theta, R);
  problem.apply_t(R, W);
  problem.constrain(W);
  space.drop_directions();  // the place of P holds the images
  auto const AD = place(basis.as, 1), BD = place(basis.generalized() ? basis.bs : basis.as, 1);
  auto const plain = descent(problem, theta, R, R, AD, BD);
  auto const with_t = descent(problem, theta, R, W, AD, BD);
  int worse = 0;
  for (int j = 0; j < wanted; ++j)
    if (!(4 * with_t[j] >= plain[j])) ++worse;
  return 2 * worse > wanted;
}

}  // namespace blockspan::eigen
