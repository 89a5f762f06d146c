#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <blockspan/solvers/exact/pencil.hpp>

namespace blockspan::exact {

/// Z = V H + Q R, what a step of block Lanczos leaves of Z.
template <class Scalar>
struct Coefficients {
  SmallMatrix<Scalar> H, R;  ///< first x k, rank x k
  int rank = 0;              ///< columns of Q
  bool finite = true;
  bool negative = false;  ///< some z^H M z < 0 beyond rounding
};

/// The Euclidean length of the longest column.
template <class Scalar>
double longest_column(SmallMatrix<Scalar> const& H) {
  double most = 0;
  for (std::size_t j = 0; j < H.extent(1); ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < H.extent(0); ++i) sum += squared_magnitude(H(i, j));
    most = std::max(most, std::sqrt(sum));
  }
  return most;
}

/// The directions of Z - V h in its Gram matrix G - h^H h.
template <class Scalar>
struct Directions {
  SmallMatrix<Scalar> C, R;  ///< Q = (Z - V h) C, Z - V h = Q R
  double least = 0, largest = 0;
  bool finite = true, negative = false;
};

/// Overwrites G. Directions shorter than `relative` times `size`, or times the longest, are
/// dropped.
template <class Scalar>
Directions<Scalar> directions(SmallMatrix<Scalar> const& G, SmallMatrix<Scalar> const& h,
                              double relative, double size) {
  using lapack::Transform;
  int const k = static_cast<int>(G.extent(0));
  if (h.extent(0) > 0)
    lapack::multiply(Transform::adjoint, Transform::none, Scalar(-1), h, h, Scalar(1), G);
  solvers::symmetrize(G, 1.0);
  Directions<Scalar> result;
  std::vector<double> g;
  result.finite = solvers::all_finite(G) && lapack::hermitian_eigen(G, g) == 0;
  if (!result.finite) return result;
  double const whole = std::max({size * size, std::abs(g.front()), g.back()});
  // what is left where Z is in the span of V has the rounding errors of h^H h
  double const taken = longest_column(h);
  result.negative = -g.front() > 1e-8 * std::max(whole, taken * taken);
  int first = 0;
  while (first < k && !(g[first] > relative * relative * whole)) ++first;
  int const rank = k - first;
  result.C = solvers::small_matrix<Scalar>(k, rank);
  result.R = solvers::small_matrix<Scalar>(rank, k);
  for (int c = 0; c < rank; ++c) {
    double const root = std::sqrt(g[first + c]);
    for (int i = 0; i < k; ++i) {
      result.C(i, c) = G(i, first + c) / root;
      result.R(c, i) = conjugate(G(i, first + c)) * root;
    }
  }
  if (rank > 0) result.least = std::sqrt(g[first]), result.largest = std::sqrt(g.back());
  return result;
}

/// Projects Z once more against V(:, 0:first), h, and writes an M-orthonormal basis of what is left
/// of it to the columns behind.
template <class Scalar, class Exec>
Directions<Scalar> normalize(Pencil<Scalar, Exec>& pencil, WithMass<Scalar, Exec> const& V,
                             int first, WithMass<Scalar, Exec> const& Z,
                             SmallMatrix<Scalar> const& h, double relative, double size) {
  auto const& exec = pencil.exec;
  int const k = static_cast<int>(Z.x.extent(1));
  auto const old = blocks::column_range(V.x, 0, first);
  auto const G = solvers::small_matrix<Scalar>(k, k);
  pencil.mass(Z);
  solvers::PhaseTimer const timer(&exec, pencil.report.seconds.orthogonalization);
  gram(exec, blocks::column_range(V.mx, 0, first), Z.x, h, pencil.workspace);
  gram(exec, Z.x, Z.mx, G, pencil.workspace);
  auto const found = directions(G, h, relative, size);
  int const rank = static_cast<int>(found.C.extent(1));
  if (rank == 0) return found;
  auto const hC = solvers::small_matrix<Scalar>(first, rank);
  solvers::product(h, found.C, hC);
  auto const Q = blocks::column_range(V.x, first, rank);
  combine(exec, Scalar(1), Z.x, found.C, Scalar(0), Q, pencil.workspace);
  combine(exec, Scalar(-1), old, hC, Scalar(1), Q, pencil.workspace);
  return found;
}

/// Extends the M-orthonormal basis V(:, 0:first) by the directions of Z, into V(:, first:first +
/// rank). Z is overwritten. V(:, 0:coupled): columns that Z is orthogonal to but for rounding. Two
/// projections, the first of them past those columns, and a third where directions of Z are nearly
/// dependent, or no longer than what the second took out: their rounding errors are not orthogonal
/// to V. Source: Grimes, Lewis and Simon 1994.
template <class Scalar, class Exec>
Coefficients<Scalar> extend(Pencil<Scalar, Exec>& pencil, WithMass<Scalar, Exec> const& V,
                            int first, WithMass<Scalar, Exec> const& Z, int coupled) {
  using lapack::Transform;
  constexpr double dropped = 1e-13, dependent = 1e-2, lost = 1e-3;
  auto const& exec = pencil.exec;
  int const k = static_cast<int>(Z.x.extent(1));
  Coefficients<Scalar> result;
  result.H = solvers::small_matrix<Scalar>(first, k);
  auto const h = solvers::small_matrix<Scalar>(first, k);
  Kokkos::deep_copy(result.H, Scalar(0));
  if (coupled < first) {
    solvers::PhaseTimer const timer(&exec, pencil.report.seconds.orthogonalization);
    int const count = first - coupled;
    auto const H = solvers::part(result.H, coupled, count, 0, k);
    gram(exec, blocks::column_range(V.mx, coupled, count), Z.x, H, pencil.workspace);
    combine(exec, Scalar(-1), blocks::column_range(V.x, coupled, count), H, Scalar(1), Z.x,
            pencil.workspace);
  }
  auto const found = normalize(pencil, V, first, Z, h, dropped, longest_column(result.H));
  result.finite = found.finite, result.negative = found.negative;
  if (!found.finite) return result;
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < first; ++i) result.H(i, j) += h(i, j);
  result.R = found.R;
  result.rank = static_cast<int>(found.C.extent(1));
  if (result.rank > 0 && found.least < std::max(dependent * found.largest, longest_column(h))) {
    WithMass<Scalar, Exec> const again{blocks::column_range(Z.x, 0, result.rank),
                                       blocks::column_range(Z.mx, 0, result.rank)};
    Kokkos::deep_copy(exec, again.x, blocks::column_range(V.x, first, result.rank));
    auto const more = solvers::part(h, 0, first, 0, result.rank);
    auto const second = normalize(pencil, V, first, again, more, lost, 0.0);
    result.finite = second.finite;
    if (!second.finite) return result;
    lapack::multiply(Transform::none, Transform::none, Scalar(1), more, found.R, Scalar(1),
                     result.H);
    result.rank = static_cast<int>(second.C.extent(1));
    result.R = solvers::small_matrix<Scalar>(result.rank, k);
    solvers::product(second.R, found.R, result.R);
  }
  pencil.mass(blocks::column_range(V.x, first, result.rank),
              blocks::column_range(V.mx, first, result.rank));
  return result;
}

}  // namespace blockspan::exact
