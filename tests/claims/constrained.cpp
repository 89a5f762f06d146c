// Problems with constraints: eigenvectors B-orthogonal to given vectors.
#include <algorithm>
#include <complex>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

/// Independent vectors: whole numbers below a staircase of ones, or nearly parallel ones.
Constraints pick_constraints(Random& random, int n) {
  int const count = pick(random, 1, std::min(3, n - 1));
  bool const close = count > 1 && random.below(4) == 0;
  double const distance = ten_to(pick(random, -6, -1));
  Constraints result;
  for (int k = 0; k < count; ++k) {
    result.emplace_back(n);
    for (int i = 0; i < n; ++i) {
      double const whole = i < k ? 0 : i == k ? 1 : pick(random, -2, 2);
      result[k][i] = close && k > 0 ? result[0][i] + distance * whole : std::complex(whole);
    }
  }
  return result;
}

EigenProblem constrained(Random& random, EigenProblem problem) {
  problem.exact = true;  // phases by quarter turns leave the constraints as they are
  problem.constraints = pick_constraints(random, problem.A.order());
  return problem;
}

EigenProblem matrices(Random& random) {
  int const n = pick_order(random);
  switch (random.below(4)) {
    case 0:
      return constrained(random, {random_symmetric(random, n)});
    case 1:
      return constrained(random, {second_differences(n)});
    case 2:
      return constrained(random, {random_gram(random, n, pick(random, 1, n))});
    default:
      return constrained(random,
                         {scaled_by(random_symmetric(random, n), random_scales(random, n, 5))});
  }
}

EigenProblem masses(Random& random) {
  int const n = pick_order(random);
  Dense const B = random.below(2) == 0
                      ? diagonal(random_scales(random, n, 2))
                      : sum(random_gram(random, n, n), diagonal(std::vector<double>(n, 1)));
  Dense const A = random.below(2) == 0 ? second_differences(n) : random_symmetric(random, n);
  return constrained(random, {A, B});
}

/// Long enough for iteration: chains of springs.
EigenProblem chains_to_iterate(Random& random) {
  int const n = pick(random, 45, 70);
  Dense A(n);
  for (int i = 0; i + 1 < n; ++i) couple(A, i, i + 1, ten_to(pick(random, -1, 1)));
  if (random.below(2) == 0) A.add(0, 0, 1);
  return constrained(random, {A});
}

}  // namespace

std::span<EigenGenerator const> constrained_problems() {
  static constexpr EigenGenerator all[] = {
      {"constraints", matrices},
      {"constraints and masses", masses},
      {"constraints, 45 to 70 rows", chains_to_iterate},
  };
  return all;
}

}  // namespace blockspan::test
