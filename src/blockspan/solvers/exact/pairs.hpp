#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <blockspan/solvers/exact/lanczos.hpp>
#include <blockspan/solvers/exact/polish.hpp>

namespace blockspan::exact {

/// Eigenpairs with what is known of them; X: n x values.size().
template <class Scalar, class Exec>
struct Pairs {
  Block<Scalar, Exec> X;
  std::vector<double> values, errors, bounds;  ///< eigenvalues, backward errors, error bounds

  std::size_t size() const { return values.size(); }
};

/// The same pairs, those of `chosen`, in that order.
template <class Scalar, class Exec>
Pairs<Scalar, Exec> select(Pencil<Scalar, Exec> const& pencil, Pairs<Scalar, Exec> const& from,
                           std::vector<int> const& chosen) {
  Pairs<Scalar, Exec> result;
  result.X = pencil.new_block("pairs", static_cast<std::int64_t>(chosen.size()));
  if (!chosen.empty()) copy_columns(pencil.exec, from.X, chosen, result.X);
  for (int const j : chosen) {
    result.values.push_back(from.values[j]);
    result.errors.push_back(from.errors[j]);
    result.bounds.push_back(from.bounds[j]);
  }
  return result;
}

/// Which of the values lie between `from` and `to`.
inline std::vector<int> indices_within(std::vector<double> const& values, double from, double to) {
  std::vector<int> chosen;
  for (int j = 0; j < static_cast<int>(values.size()); ++j)
    if (from < values[j] && values[j] < to) chosen.push_back(j);
  return chosen;
}
inline std::int64_t number_within(std::vector<double> const& values, double from, double to) {
  return static_cast<std::int64_t>(indices_within(values, from, to).size());
}

/// Both, a before b.
template <class Scalar, class Exec>
Pairs<Scalar, Exec> join(Pencil<Scalar, Exec> const& pencil, Pairs<Scalar, Exec> const& a,
                         Pairs<Scalar, Exec> const& b) {
  if (a.size() == 0) return b;
  if (b.size() == 0) return a;
  auto result = a;
  int const first = static_cast<int>(a.size()), more = static_cast<int>(b.size());
  result.X = pencil.new_block("pairs", first + more);
  Kokkos::deep_copy(pencil.exec, blocks::column_range(result.X, 0, first), a.X);
  Kokkos::deep_copy(pencil.exec, blocks::column_range(result.X, first, more), b.X);
  for (auto const member :
       {&Pairs<Scalar, Exec>::values, &Pairs<Scalar, Exec>::errors, &Pairs<Scalar, Exec>::bounds})
    (result.*member).insert((result.*member).end(), (b.*member).begin(), (b.*member).end());
  return result;
}

template <class Less>
std::vector<int> sorted_order(std::size_t count, Less const& less) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

/// Rayleigh and Ritz on X with K and M: X^H M X = I, the values ascending. False where X^H M X is
/// not definite.
template <class Scalar, class Exec>
bool rayleigh_ritz(Pencil<Scalar, Exec>& pencil, Block<Scalar, Exec> const& X,
                   std::vector<double>& values) {
  using lapack::Transform;
  auto const& exec = pencil.exec;
  int const k = static_cast<int>(X.extent(1));
  auto const KX = pencil.new_block("KX", k);
  WithMass<Scalar, Exec> const V{X, pencil.generalized() ? pencil.new_block("MX", k) : X};
  auto const A = solvers::small_matrix<Scalar>(k, k), B = solvers::small_matrix<Scalar>(k, k);
  constexpr double far_from_identity = 1e-2;  // the columns are not yet orthonormal to rounding
  for (int pass = 0; pass < 2; ++pass) {
    pencil.multiply(X, KX);
    pencil.mass(V);
    gram(exec, X, KX, A, pencil.workspace);
    gram(exec, X, V.mx, B, pencil.workspace);
    solvers::symmetrize(A, 1.0), solvers::symmetrize(B, 1.0);
    bool const again = solvers::defect_from_diagonal(B) > far_from_identity;
    if (!solvers::all_finite(A) || !solvers::all_finite(B) || lapack::cholesky(B) != 0)
      return false;
    lapack::reduce_to_standard(A, B);
    if (lapack::hermitian_eigen(A, values) != 0) return false;
    lapack::solve_lower(Transform::adjoint, B, A);
    combine_in_place(exec, X, A, pencil.workspace);
    if (!again) break;
  }
  return true;
}

/// Pairs judged by K and M themselves.
struct Judgement {
  std::vector<double> errors;        ///< ||K x - lambda M x|| / ((||K|| + |lambda| ||M||) ||x||)
  std::vector<double> energies;      ///< |x|^T (|K| + |lambda| |M|) |x|
  std::vector<double> rounding;      ///< of that, in the value
  std::vector<double> second_order;  ///< what the residual does to it
};

/// The values become Rayleigh quotients: those of a projected problem have the rounding errors of
/// its largest.
template <class Scalar, class Exec>
Judgement judge_pairs(Pencil<Scalar, Exec>& pencil, Block<Scalar, Exec> const& X,
                      std::vector<double>& values) {
  auto const& exec = pencil.exec;
  int const k = static_cast<int>(X.extent(1));
  auto const R = pencil.new_block("residuals", k);
  auto const MX = pencil.with_mass(X).mx;
  pencil.multiply(X, R);
  Kokkos::View<Scalar*, Kokkos::HostSpace> const stiffness("stiffness", k), mass("mass", k);
  column_dots(exec, X, R, stiffness, pencil.workspace);
  column_dots(exec, X, MX, mass, pencil.workspace);
  for (int j = 0; j < k; ++j) values[j] = real_part(stiffness(j)) / real_part(mass(j));
  auto const minus = solvers::small_matrix<Scalar>(k, k);
  Kokkos::deep_copy(minus, Scalar(0));
  for (int j = 0; j < k; ++j) minus(j, j) = -values[j];
  combine(exec, Scalar(1), MX, minus, Scalar(1), R, pencil.workspace);
  Kokkos::View<double*, Kokkos::HostSpace> const r("r", k), x("x", k);
  column_norms(exec, R, r, pencil.workspace);
  column_norms(exec, X, x, pencil.workspace);
  Judgement judged;
  for (int j = 0; j < k; ++j) {
    double const size = pencil.report.norm_k + std::abs(values[j]) * pencil.report.norm_m;
    judged.errors.push_back(r(j) == 0 ? 0 : r(j) / (size * x(j)));
  }
  judged.energies = pencil.energies(X, values);
  for (double const energy : judged.energies)
    judged.rounding.push_back(pencil.rounding_of_rows() * energy);
  judged.second_order = pencil.second_order(R, judged.rounding);
  return judged;
}

/// Rayleigh and Ritz, and again by rotations where the dense eigensolver's errors, rounding of the
/// largest value, are more than those of the smallest. False as rayleigh_ritz.
template <class Scalar, class Exec>
bool make_pairs(Pencil<Scalar, Exec>& pencil, Pairs<Scalar, Exec>& pairs, Judgement& judged) {
  if (!rayleigh_ritz(pencil, pairs.X, pairs.values)) return false;
  judged = judge_pairs(pencil, pairs.X, pairs.values);
  double const largest = std::max(std::abs(pairs.values.front()), std::abs(pairs.values.back()));
  auto const& energies = judged.energies;
  if (!(largest > *std::min_element(energies.begin(), energies.end()))) return true;
  polish(pencil, pairs.X, energies);
  judged = judge_pairs(pencil, pairs.X, pairs.values);
  return true;
}

/// What rounding of products of two vectors may mix of one pair into another: of those that are as
/// near each other as that, all. How near they are is known to the errors of both values.
inline double mixed_in(std::vector<double> const& values, std::vector<double> const& errors,
                       std::vector<double> const& rounding, std::size_t j) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == j) continue;
    double const mixed = std::sqrt(rounding[i]) * std::sqrt(rounding[j]);
    double const gap = std::abs(values[i] - values[j]) - errors[i] - errors[j];
    sum += mixed >= gap ? mixed : mixed / gap * mixed;
  }
  return sum;
}

/// The leading `count` pairs of a run, by OP x / theta; where M is singular, or rounding of the
/// largest theta shows in the others, by OP itself: that takes out what lies far away, or in the
/// null space of M (Meerbergen and Spence 1997). No pairs where their products are not finite or
/// not definite.
template <class Scalar, class Exec>
Pairs<Scalar, Exec> take_pairs(Pencil<Scalar, Exec>& pencil, Lanczos<Scalar, Exec>& run,
                               int count) {
  constexpr double clean = 1e-14;
  constexpr double safety = 10;  // eigenvalues nearer the value than the shift
  Pairs<Scalar, Exec> result;
  if (count == 0) return result;
  result.X = pencil.new_block("pairs", count);
  run.vectors(result.X);
  auto const purify = [&] {
    auto const MX = pencil.new_block("MX", count);
    if (pencil.generalized())
      pencil.mass(result.X, MX);
    else
      Kokkos::deep_copy(pencil.exec, MX, result.X);
    pencil.solve(MX, result.X);
    // of any length otherwise
    Kokkos::View<double*, Kokkos::HostSpace> const factors("factors", count);
    for (int j = 0; j < count; ++j) factors(j) = 1 / std::abs(run.theta()[j]);
    scale_columns(pencil.exec, factors, result.X);
    run.project(result.X);  // rounding of the inverse has the direction of what is nearest
  };
  Judgement judged;
  auto const shows = [&](double least) {
    for (int j = 0; j < count; ++j)
      if (judged.errors[j] > least || judged.second_order[j] > judged.rounding[j]) return true;
    return false;
  };
  double const tolerance = pencil.options.tolerance;
  bool const singular = pencil.factors().massless_rows();
  if (singular) purify();
  if (!make_pairs(pencil, result, judged)) return {};
  double least = pencil.generalized() ? std::min(clean, tolerance) : tolerance;
  for (int again = 0; again < 3 && !singular && shows(least); ++again, least = tolerance) {
    purify();
    if (!make_pairs(pencil, result, judged)) return {};
  }
  result.errors = judged.errors;
  // the residual in theta moves lambda = sigma + 1 / theta by its square
  std::vector<std::pair<double, double>> moved;
  for (int j = 0; j < count; ++j) {
    double const theta = run.theta()[j];
    moved.emplace_back(1 / theta, run.residuals()[j] / (theta * theta));
  }
  std::sort(moved.begin(), moved.end());
  // where unknowns were pinned nothing is known of them
  bool const pinned = pencil.report.counts.back().null_pivots > 0;
  std::vector<double> alone;
  for (int j = 0; j < count; ++j)
    alone.push_back(moved[j].second + judged.rounding[j] + safety * judged.second_order[j]);
  for (int j = 0; j < count; ++j)
    result.bounds.push_back(pinned ? std::numeric_limits<double>::infinity()
                                   : alone[j] + mixed_in(result.values, alone, judged.rounding, j));
  return result;
}

}  // namespace blockspan::exact
