// Pencils whose mass has null vectors, exactly, and others with unknowns that nothing uses.
#include <algorithm>
#include <cmath>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

Dense random_definite(Random& random, int n) {
  if (random.below(2) == 0) return second_differences(n);
  return sum(random_gram(random, n, n), diagonal(std::vector<double>(n, 1)));
}

/// Some masses, then zeros.
Dense some_masses(Random& random, int n, int massless) {
  int const spread = random.below(3) == 0 ? 6 : 0;
  auto d = random_scales(random, n, spread);
  std::fill(d.end() - massless, d.end(), 0.0);
  return diagonal(d);
}

EigenProblem shuffled(Random& random, Dense const& A, Dense const& B) {
  auto const order = random_order(random, A.order());
  return {permuted(A, order), permuted(B, order), true, true};
}

EigenProblem massless_rows(Random& random) {
  int const n = pick_order(random), massless = pick(random, 1, n - 1);
  Dense const A = random_definite(random, n), M = some_masses(random, n, massless);
  return shuffled(random, A, M);
}

/// Stiffness of the massless part negative: eigenvalues at minus infinity, in a sense.
EigenProblem massless_and_negative(Random& random) {
  int const n = pick_order(random), massless = pick(random, 1, n - 1);
  Dense A = random_definite(random, n);
  for (int i = n - massless; i < n; ++i)
    if (random.below(2) == 0) A.set(i, i, -3.0 * A(i, i));
  return shuffled(random, A, some_masses(random, n, massless));
}

/// K with the rows of constraints below, without masses.
EigenProblem multipliers(Random& random) {
  int const n = pick_order(random, 20), constraints = pick(random, 1, n / 2);
  Dense A = beside(random_definite(random, n), Dense(constraints));
  for (int k = 0; k < constraints; ++k) {
    A.set(n + k, k, 1);  // independent of the others
    if (random.below(2) == 0) A.set(n + k, pick(random, constraints, n - 1), -1);
  }
  Dense const M =
      beside(random.below(2) == 0 ? diagonal(std::vector<double>(n, 1)) : some_masses(random, n, 0),
             Dense(constraints));
  return shuffled(random, A, M);
}

EigenProblem mass_of_rank(Random& random) {
  int const n = pick_order(random, 20), rank = pick(random, 1, std::min(n - 1, 3));
  Dense const A = random_definite(random, n);
  return {A, random_gram(random, n, rank), true, true};
}

EigenProblem mass_of_rank_constrained(Random& random) {
  int const n = pick_order(random, 14), rank = pick(random, 2, std::min(n - 1, 4));
  Dense A = beside(random_definite(random, n), Dense(1));
  A.set(n, pick(random, 0, n - 1), 1);
  return shuffled(random, A, beside(random_gram(random, n, rank), Dense(1)));
}

/// Beams: translations have masses, rotations none.
EigenProblem lumped(Random& random) {
  int const nodes = pick(random, 2, 8), n = 2 * nodes;
  double const stiff = ten_to(pick(random, -3, 8));
  Dense A(n);
  std::vector<double> d(n);
  for (int e = 0; e < nodes; ++e) {
    double const k[4][4] = {{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j <= i; ++j)  // the first node is clamped
        if (e > 0 || j > 1) A.add(2 * e - 2 + i, 2 * e - 2 + j, stiff * k[i][j]);
    d[2 * e] = pick(random, 1, 9);
  }
  return {A, diagonal(d), true, true};
}

/// Free bodies with massless nodes between the masses.
EigenProblem free_with_massless(Random& random) {
  int const n = pick_order(random);
  Dense A(n);
  std::vector<double> d(n);
  for (int i = 0; i + 1 < n; ++i) couple(A, i, i + 1, pick(random, 1, 4));
  for (int i = 0; i < n; ++i) d[i] = i == 0 || random.below(2) == 0 ? pick(random, 1, 4) : 0;
  d[n - 1] = 0;
  return {A, diagonal(d), true, true};
}

EigenProblem unused(Random& random) {
  int const n = pick_order(random), empty = pick(random, 1, 4);
  Dense A = beside(random_definite(random, n), Dense(empty));
  auto const order = random_order(random, n + empty);
  if (random.below(3) == 0) return {permuted(A, order), {}, false, true};
  Dense const M = beside(some_masses(random, n, 0), Dense(empty));
  return {permuted(A, order), permuted(M, order), false, true};
}

EigenProblem massless_of_scales(Random& random) {
  int const n = pick_order(random), massless = pick(random, 1, n - 1);
  std::vector<double> d;
  for (int i = 0; i < n; ++i) d.push_back(std::ldexp(1.0, pick(random, -16, 16)));
  return shuffled(random, scaled_by(second_differences(n), d), some_masses(random, n, massless));
}

constexpr EigenGenerator all_singular_pencils[] = {
    {"massless rows", massless_rows},
    {"massless rows, K negative", massless_and_negative},
    {"multipliers", multipliers},
    {"masses of low rank", mass_of_rank},
    {"low rank and a constraint", mass_of_rank_constrained},
    {"rotations without mass", lumped},
    {"free, some masses zero", free_with_massless},
    {"unused unknowns", unused},
    {"massless rows, graded K", massless_of_scales},
};

}  // namespace

std::span<EigenGenerator const> singular_pencils() { return all_singular_pencils; }

}  // namespace blockspan::test
