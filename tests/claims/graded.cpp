// Matrices whose entries spread over many orders of magnitude.
#include <cmath>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

int pick_spread(Random& random) {
  constexpr int spreads[] = {3, 6, 8, 10, 20, 75};
  return spreads[random.below(6)];
}

/// Near the ends of the range of squares, one time in four.
EigenProblem anywhere(Random& random, Dense const& A, int spread) {
  auto const end = random.below(8);
  if (spread > 20 || end > 1) return {A};
  return {times(A, end == 0 ? 1e150 : 1e-150)};
}

EigenProblem graded_differences(Random& random) {
  int const n = pick_order(random), spread = pick_spread(random);
  return anywhere(random, scaled_by(second_differences(n), random_scales(random, n, spread)),
                  spread);
}

EigenProblem graded_definite(Random& random) {
  int const n = pick_order(random, 20), spread = pick_spread(random);
  Dense const A = sum(random_gram(random, n, n), diagonal(std::vector<double>(n, 1)));
  return anywhere(random, scaled_by(A, random_scales(random, n, spread)), spread);
}

EigenProblem graded_indefinite(Random& random) {
  int const n = pick_order(random, 20), spread = pick_spread(random);
  Dense const A = random_symmetric(random, n);
  return anywhere(random, scaled_by(A, random_scales(random, n, spread)), spread);
}

EigenProblem graded_semidefinite(Random& random) {
  int const n = pick_order(random, 20), rank = pick(random, 1, n - 1);
  std::vector<double> d;
  for (int i = 0; i < n; ++i) d.push_back(std::ldexp(1.0, pick(random, -30, 30)));
  return {scaled_by(random_gram(random, n, rank), d), {}, false, true};
}

EigenProblem graded_long(Random& random) {
  int const n = pick(random, 20, 80);
  return {scaled_by(second_differences(n), random_scales(random, n, pick(random, 2, 10)))};
}

/// Blocks of very different scales, in any order of rows.
EigenProblem scales_apart(Random& random) {
  int const blocks = pick(random, 2, 4), most = random.below(6) == 0 ? 20 : 6;
  Dense A;
  int exponent = pick(random, -60, 0);
  for (int b = 0; b < blocks; ++b) {
    int const n = pick(random, 1, most);
    Dense const block = random.below(2) == 0 ? second_differences(n) : random_symmetric(random, n);
    Dense const sized = times(block, ten_to(exponent));
    A = b == 0 ? sized : beside(A, sized);
    exponent += pick(random, 12, 24);
  }
  return {permuted(A, random_order(random, A.order()))};
}

EigenProblem arrowhead(Random& random) {
  int const n = pick_order(random), spread = pick(random, 0, 12);
  Dense A = diagonal(random_scales(random, n, spread));
  auto const border = random_scales(random, n, spread);
  for (int i = 1; i < n; ++i) A.set(0, i, border[i] * random.value<double>());
  return {A};
}

EigenProblem graded_diagonal(Random& random) {
  int const n = pick_order(random);
  auto d = random_scales(random, n, pick_spread(random));
  for (double& x : d)
    if (random.below(4) == 0) x = random.below(2) == 0 ? -x : 0;
  return {diagonal(d)};
}

EigenProblem tiny_order(Random& random) {
  int const n = pick(random, 1, 2);
  Dense const A = random.below(3) == 0 ? random_gram(random, n, pick(random, 0, 2))
                                       : random_symmetric(random, n);
  EigenProblem result{scaled_by(A, random_scales(random, n, pick(random, 0, 75)))};
  if (random.below(2) == 0) result.B = diagonal(random_scales(random, n, pick(random, 0, 75)));
  return result;
}

EigenProblem ends_of_range(Random& random) {
  int const n = pick_order(random);
  constexpr double units[] = {1e307, 1e300, 1e-290, 1e-307, 4e-310, 1e-320};
  double const unit = units[random.below(6)];
  Dense const A = random.below(2) == 0 ? second_differences(n) : random_symmetric(random, n);
  return {times(A, unit)};
}

/// R^T R of R = diag(1, s, s^2, ...) (1 -c -c ...), as Kahan made them: no small entry tells of the
/// small eigenvalue.
EigenProblem kahan(Random& random) {
  int const n = pick_order(random);
  double const s = 0.3 + 0.05 * pick(random, 0, 12), c = std::sqrt(1 - s * s);
  Dense A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double entry = 0, power = 1;
      for (int k = 0; k <= j; ++k, power *= s)
        entry += (k == i ? power : -c * power) * (k == j ? power : -c * power);
      A.set(i, j, entry);
    }
  return {A};
}

EigenProblem hilbert(Random& random) {
  int const n = pick(random, 3, 14);
  Dense A(n);
  int const kind = pick(random, 0, 2);
  std::vector<double> nodes;
  for (int i = 0; i < n; ++i) nodes.push_back(i + random.value<double>() / 4 + 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double vandermonde = 0, power = 1;
      for (int k = 0; k < n; ++k, power *= nodes[i] * nodes[j] / n / n) vandermonde += power;
      A.set(i, j,
            kind == 0   ? 1.0 / (i + j + 1)
            : kind == 1 ? 1 / (nodes[i] + nodes[j])
                        : vandermonde);
    }
  return {A};
}

EigenProblem penalties(Random& random) {
  int const n = pick_order(random), fixed = pick(random, 1, 3);
  Dense A = random.below(2) == 0 ? second_differences(n)
                                 : sum(random_gram(random, n, 2), second_differences(n));
  for (int k = 0; k < fixed; ++k) {
    double const penalty = ten_to(pick(random, 6, 14));
    int const i = pick(random, 0, n - 1), j = pick(random, 0, n - 1);
    if (i == j || random.below(2) == 0)
      A.add(i, i, penalty);
    else
      couple(A, i, j, penalty);
  }
  return {A};
}

/// One diagonal entry so large that the squares of the others underflow beside it.
EigenProblem beyond_squares(Random& random) {
  int const n = pick_order(random);
  Dense A = second_differences(n);
  int const huge = pick(random, 0, n - 1);
  A.set(huge, huge, ten_to(pick(random, 100, 290)));
  if (random.below(2) == 0) {
    std::vector<double> d(n, 1);
    d[pick(random, 0, n - 1)] = ten_to(-pick(random, 10, 140));
    A = scaled_by(A, d);
  }
  return {A};
}

constexpr EigenGenerator all_graded[] = {
    {"graded differences", graded_differences},
    {"graded definite", graded_definite},
    {"graded indefinite", graded_indefinite},
    {"graded semidefinite", graded_semidefinite},
    {"graded, 20 to 80 rows", graded_long},
    {"blocks of scales apart", scales_apart},
    {"arrowheads", arrowhead},
    {"graded diagonals", graded_diagonal},
    {"orders 1 and 2", tiny_order},
    {"ends of the range", ends_of_range},
    {"entries beyond squares", beyond_squares},
    {"kahan", kahan},
    {"hilbert, cauchy, vandermonde", hilbert},
    {"penalties", penalties},
};

}  // namespace

std::span<EigenGenerator const> graded_problems() { return all_graded; }

}  // namespace blockspan::test
