// Pencils with a definite mass, mostly of many scales.

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

Dense identity(int n) { return diagonal(std::vector<double>(n, 1)); }

Dense random_stiffness(Random& random, int n) {
  switch (random.below(4)) {
    case 0:
      return second_differences(n);
    case 1:
      return sum(random_gram(random, n, n), identity(n));
    case 2:
      return random_symmetric(random, n);
    default:
      return scaled_by(second_differences(n), random_scales(random, n, pick(random, 1, 10)));
  }
}

EigenProblem identity_mass(Random& random) {
  int const n = pick_order(random);
  return {random_stiffness(random, n), identity(n)};
}

EigenProblem graded_masses(Random& random) {
  int const n = pick_order(random), spread = pick(random, 1, 20);
  Dense const A = random_stiffness(random, n);
  return {A, diagonal(random_scales(random, n, spread))};
}

EigenProblem graded_full_mass(Random& random) {
  int const n = pick_order(random, 20), spread = pick(random, 1, 12);
  Dense const A = random_stiffness(random, n);
  Dense const M = sum(random_gram(random, n, n), identity(n));
  auto const d = random_scales(random, n, spread);
  if (random.below(2) == 0) return {A, scaled_by(M, d)};
  return {scaled_by(A, d), scaled_by(M, d)};  // a congruence, and the spectrum of (A, M)
}

EigenProblem penalties_in_pencils(Random& random) {
  int const n = pick_order(random), fixed = pick(random, 1, 3);
  Dense A = second_differences(n), M = diagonal(std::vector<double>(n, 4));
  for (int i = 0; i + 1 < n; ++i) M.set(i, i + 1, 1);
  for (int k = 0; k < fixed; ++k) {
    double const penalty = ten_to(pick(random, 6, 14));
    int const i = pick(random, 0, n - 1), j = pick(random, 0, n - 1);
    if (i == j)
      A.add(i, i, penalty);
    else
      couple(A, i, j, penalty);
  }
  return {A, M};
}

EigenProblem tiny_masses(Random& random) {
  int const n = pick_order(random);
  Dense const A = random.below(3) == 0 ? random_symmetric(random, n) : second_differences(n);
  Dense M = identity(n);
  for (int k = pick(random, 1, n - 1); k > 0; --k) {
    constexpr int exponents[] = {-6, -10, -14, -18, -30, -100, -300};
    int const row = pick(random, 0, n - 1);
    M.set(row, row, ten_to(exponents[random.below(7)]));
  }
  return {A, M};
}

/// Overlaps of Gaussians on a line, exp(-h^2 (i - j)^2) by powers, and their kinetic energies.
EigenProblem overlaps(Random& random) {
  int const n = pick(random, 3, 14);
  double const g = 0.5 + 0.02 * pick(random, 0, 24);  // exp(-h^2)
  Dense A(n), S(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double overlap = 1;
      for (int k = 0; k < (i - j) * (i - j); ++k) overlap *= g;
      S.set(i, j, overlap);
      A.set(i, j, overlap * (1 + (1 - g) * (i - j) * (i - j)));
    }
  if (random.below(2) == 0)
    for (int i = 0; i < n; ++i) A.add(i, i, random.value<double>());
  return {A, S};
}

/// Loads against stiffness: an indefinite A, and a B as badly conditioned as stiffnesses are.
EigenProblem buckling(Random& random) {
  int const n = pick_order(random);
  Dense A(n), K = second_differences(n);
  for (int i = 0; i + 1 < n; ++i) couple(A, i, i + 1, random.value<double>());
  for (int k = pick(random, 0, 3); k > 0; --k) {
    int const i = pick(random, 0, n - 2);
    couple(K, i, i + 1, ten_to(pick(random, 0, 10)));
  }
  return {A, K};
}

EigenProblem rescaled_pencil(Random& random) {
  int const n = pick_order(random);
  Dense const A = random_stiffness(random, n);
  Dense const M = scaled_by(sum(random_gram(random, n, n), identity(n)),
                            random_scales(random, n, pick(random, 0, 3)));
  constexpr double units[] = {1e-150, 1e-60, 1e60, 1e150};
  double const a = units[random.below(4)];
  return {times(A, a), times(M, units[random.below(4)])};
}

/// Stiffnesses and masses whose quotients lie as far apart as the format reaches.
EigenProblem range_of_quotients(Random& random) {
  int const n = pick_order(random, 20);
  std::vector<double> d(n, 1), masses(n, 1);
  if (random.below(2) == 0) d[pick(random, 0, n - 1)] = ten_to(-pick(random, 5, 40));
  Dense A = scaled_by(second_differences(n), d);
  if (random.below(2) == 0) {
    int const huge = pick(random, 0, n - 1);
    A.set(huge, huge, ten_to(pick(random, 100, 300)));
  }
  for (double& mass : masses)
    if (random.below(2) == 0) mass = ten_to(random.below(2) == 0 ? -150 : 150);
  return {A, diagonal(masses)};
}

EigenProblem equal_pencil(Random& random) {
  int const n = pick_order(random, 20);
  Dense const M = scaled_by(sum(random_gram(random, n, n), identity(n)),
                            random_scales(random, n, pick(random, 0, 8)));
  return {times(M, pick(random, -2, 2)), M};
}

/// Elements of a bar of varying lengths: consistent masses, stiffness free at both ends.
EigenProblem finite_elements(Random& random) {
  int const n = pick_order(random);
  Dense K(n), M(n);
  for (int i = 0; i + 1 < n; ++i) {
    double const h = ten_to(pick(random, -5, 0)) * pick(random, 1, 9);
    couple(K, i, i + 1, 1 / h);
    M.add(i, i, h / 3), M.add(i + 1, i + 1, h / 3);
    M.add(i, i + 1, h / 6);
  }
  return {K, M};
}

constexpr EigenGenerator all_pencils[] = {
    {"mass I", identity_mass},
    {"graded masses", graded_masses},
    {"graded mass matrices", graded_full_mass},
    {"penalties in pencils", penalties_in_pencils},
    {"tiny masses", tiny_masses},
    {"overlaps of Gaussians", overlaps},
    {"buckling", buckling},
    {"pencils of other units", rescaled_pencil},
    {"ranges of quotients", range_of_quotients},
    {"A a multiple of B", equal_pencil},
    {"bars of finite elements", finite_elements},
};

}  // namespace

std::span<EigenGenerator const> pencils() { return all_pencils; }

}  // namespace blockspan::test
