#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/solvers/lobpcg/subspace/basis.hpp>
#include <blockspan/solvers/lobpcg/subspace/rayleigh_ritz.hpp>

namespace blockspan::eigen {

/// V := random columns, orthonormal in the inner product of B and orthogonal to the deflated
/// vectors and to the blocks of `others` (each with its image under B); AV and BV go along. False
/// if the columns do not survive their orthonormalization.
template <class Scalar, class Exec>
bool random_orthonormal(
    Problem<Scalar, Exec>& problem, Images<Scalar, Exec> const& V,
    std::initializer_list<std::pair<Block<Scalar, Exec>, Block<Scalar, Exec>>> others) {
  problem.randomize(V.X);
  for (int round = 0; round < 2; ++round) {
    for (int pass = 0; pass < 2 - round; ++pass) {
      problem.constrain(V.X);
      for (auto const& [Q, BQ] : others)
        if (Q.extent(1) > 0) blockspan::project_out(problem.exec, Q, BQ, V.X, problem.workspace);
    }
    if (problem.generalized()) problem.apply_b(V.X, V.BX);
    if (problem.orthonormalize(V.X, V.BX) < static_cast<int>(V.X.extent(1))) return false;
  }
  problem.apply_a(V.X, V.AX);
  return true;
}

/// The subspace of an iteration: the basis S = [X P W] with its images, its Gram matrices, the
/// Rayleigh-Ritz procedure on them, and the Ritz values of X.
///
/// Invariants, to rounding, after every call that returned success:
///   X^H B X = I and X^H Y = 0 for the deflated Y; AX = A X, BX = B X, and so for P
///   theta holds the Rayleigh quotients of X in ascending order, X the Ritz vectors (not the guards
///   that widen() has just added)
///   W is empty but between its construction and rayleigh_ritz()
/// After a failure X has its memory, nothing more.
template <class Scalar, class Exec>
struct Subspace {
  using Real = real_t<Scalar>;
  using View = Block<Scalar, Exec>;

  Subspace(Problem<Scalar, Exec>& problem_, int columns)
      : problem(problem_),
        basis(problem.exec, problem.rows(), columns, problem.generalized()),
        grams(problem.exec, 3 * columns),
        ritz(3 * columns, problem.eigen) {}

  int m() const { return basis.m; }
  /// No P, no W.
  void drop_directions() { basis.p = basis.w = 0; }

  /// Another basis, and small matrices for it.
  void replace_basis(Basis<Scalar, Exec> const& other) {
    basis = other;
    grams = Grams<Scalar, Exec>(problem.exec, 3 * basis.m);
    ritz = RayleighRitz<Scalar>(3 * basis.m, problem.eigen);
  }

  /// Scales the first `given` columns of X to unit norm, by their largest entry first so that
  /// nothing over- or underflows; columns without a direction (zero, NaN) and all others become
  /// random.
  void repair_x(int given) {
    auto const X = column_range(basis.s, 0, given);
    std::vector<Real> factors(given, Real(1));
    std::vector<int> lost;
    auto const largest = given > 0 ? problem.largest_entries(X) : std::vector<Real>();
    for (int j = 0; j < given; ++j) {
      if (std::isfinite(largest[j]) && largest[j] >= std::numeric_limits<Real>::min())
        factors[j] = std::ldexp(Real(1), -std::ilogb(largest[j]));
      else
        lost.push_back(j);
    }
    if (given > 0) problem.scale_each(X, factors);
    for (int const j : lost) problem.randomize(column_range(basis.s, j, 1));
    if (given < m()) problem.randomize(column_range(basis.s, given, m() - given));
  }

  /// Everything about X anew from A and B themselves: B-orthonormal X, Ritz pairs, no P, no W. With
  /// `exact`, AX and BX are applications of the operators to the final X, not rotated ones.
  std::optional<Status> refresh(bool exact) {
    drop_directions();
    if (auto const trouble = orthonormalize_x()) return trouble;
    problem.apply_a(basis.x(), basis.ax());
    if (auto const trouble = rotate_x()) return trouble;
    if (exact) {
      problem.apply_a(basis.x(), basis.ax());
      if (problem.generalized()) problem.apply_b(basis.x(), basis.bx());
    }
    return std::nullopt;
  }

  /// Rayleigh-Ritz on X alone, whose images are up to date.
  std::optional<Status> rotate_x() {
    drop_directions();
    grams.compute(problem, basis, m());
    if (!grams.finite()) return Status::operator_not_finite;
    {
      auto const timer = problem.time(problem.seconds.dense);
      if (!ritz.factor_cholesky(grams.G(), Thresholds<Real>::svqb_drop)) ritz.factor_identity(m());
    }
    return rayleigh_ritz({}) ? std::nullopt : std::optional(Status::stagnated);
  }

  /// The Ritz pairs of S, whose Gram matrices are factored: the next X, and the next P from what W
  /// and P gave to its `active` columns. False, and nothing has changed, if the eigenproblem fails.
  bool rayleigh_ritz(std::vector<int> const& active) {
    int p = 0;
    {
      auto const timer = problem.time(problem.seconds.dense);
      if (!ritz.solve(grams.H(), m())) return false;
      if (!active.empty()) p = ritz.select(grams.G(), active);
    }
    theta.assign(ritz.theta().begin(), ritz.theta().begin() + m());
    combine(ritz.coefficients());
    basis.p = p;
    basis.w = 0;
    return true;
  }

  /// More guards: random columns, orthonormal to X and P, to `columns` in all. theta gets their
  /// Rayleigh quotients. False, and nothing has changed, if they do not survive their
  /// orthonormalization.
  bool widen(int columns);

  Problem<Scalar, Exec>& problem;
  Basis<Scalar, Exec> basis;
  Grams<Scalar, Exec> grams;
  RayleighRitz<Scalar> ritz;
  std::vector<Real> theta;
  Real largest_x = 1;  ///< max ||x_j||, as measured; infinite where no drift of X can be seen

 private:
  /// X := a B-orthonormal block of m columns that spans X, filled up with random columns where X
  /// has lower rank; BX goes along.
  std::optional<Status> orthonormalize_x() {
    // An ill-conditioned X magnifies what is left of Y: one more round removes it.
    int rounds = problem.deflation.empty() ? 1 : 2;
    for (int attempt = 0; attempt < 6; ++attempt) {
      for (int pass = 0; pass < 2; ++pass) problem.constrain(basis.x());
      if (problem.generalized()) {
        problem.apply_b(basis.x(), basis.bx());
        if (auto const trouble = problem.trouble_of_mass(basis.x(), basis.bx())) return trouble;
      }
      int const rank = problem.orthonormalize(basis.x(), basis.bx());
      if (rank == m() && --rounds == 0) return std::nullopt;
      if (rank == m()) continue;
      problem.counters.columns_dropped += m() - rank;
      auto const missing = column_range(basis.s, rank, m() - rank);
      problem.randomize(missing);
      if (rank > 0)
        blockspan::project_out(problem.exec, column_range(basis.s, 0, rank),
                               column_range(basis.bs, 0, rank), missing, problem.workspace);
    }
    if (!problem.mass_is_singular()) return Status::attainable_limit;  // B is too graded
    problem.trouble = "the mass matrix is singular: its rank is below the columns of the block, " +
                      std::to_string(m());
    return Status::mass_singular;
  }

  /// S := S C, and the images by the same coefficients. One pass a block.
  void combine(SmallMatrix<Scalar> const& C) {
    auto const timer = problem.time(problem.seconds.update);
    auto const on_device = problem.small_on_device(C);
    blockspan::combine_in_place(problem.exec, basis.all(), on_device, problem.workspace);
    blockspan::combine_in_place(problem.exec, basis.a_all(), on_device, problem.workspace);
    if (problem.generalized())
      blockspan::combine_in_place(problem.exec, basis.b_all(), on_device, problem.workspace);
  }
};

template <class Scalar, class Exec>
bool Subspace<Scalar, Exec>::widen(int columns) {
  using Wide = Basis<Scalar, Exec>;
  int const before = m(), p = basis.p, added = columns - before;
  Wide wide(problem.exec, problem.rows(), columns, problem.generalized());
  auto const move = [&](View const& from, View const& to) {
    Kokkos::deep_copy(problem.exec, column_range(to, 0, before), column_range(from, 0, before));
    if (p > 0)
      Kokkos::deep_copy(problem.exec, column_range(to, columns, p), column_range(from, before, p));
  };
  move(basis.s, wide.s);
  move(basis.as, wide.as);
  if (problem.generalized()) move(basis.bs, wide.bs);
  Images<Scalar, Exec> const V{column_range(wide.s, before, added),
                               column_range(wide.as, before, added),
                               column_range(wide.bs, before, added)};
  if (!random_orthonormal(problem, V,
                          {{basis.x(), basis.bx()},
                           {column_range(wide.s, columns, p), column_range(wide.bs, columns, p)}}))
    return false;
  DirectionTerms<Scalar> const terms{row_major_ref<Exec>(V.AX), row_major_ref<Exec>(V.X)};
  auto const sums = problem.fold("Blockspan::lobpcg::quotients", terms, added);
  for (int j = 0; j < added; ++j) theta.push_back(problem.sign * sums[added + j]);
  wide.p = p;
  replace_basis(wide);
  return true;
}

}  // namespace blockspan::eigen
