// Systems: definite, singular and consistent or not, indefinite, and right-hand sides of all sizes.
#include <cmath>
#include <limits>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

using Vector = std::vector<std::complex<double>>;

Vector random_vector(Random& random, int n) {
  Vector b;
  for (int i = 0; i < n; ++i) b.emplace_back(random.value<double>());
  return b;
}

/// A y of whole y, which is exact where A is of whole numbers.
Vector in_range(Random& random, Dense const& A) {
  Vector y, b(A.order());
  for (int i = 0; i < A.order(); ++i) y.emplace_back(pick(random, -4, 4));
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j < A.order(); ++j) b[i] += A(i, j) * y[j];
  return b;
}

SystemProblem with_any_rhs(Random& random, Dense const& A, bool exact = false) {
  SystemProblem result{A, {}, false, exact};
  for (int k = pick(random, 1, 5); k > 0; --k)
    result.rhs.push_back(random.below(2) == 0 ? in_range(random, A)
                                              : random_vector(random, A.order()));
  return result;
}

SystemProblem with_solvable_rhs(Random& random, Dense const& A, bool exact = false) {
  SystemProblem result{A, {}, true, exact};
  for (int k = pick(random, 1, 5); k > 0; --k) result.rhs.push_back(in_range(random, A));
  return result;
}

Dense tree(Random& random, int n, int spread) {
  Dense A(n);
  for (int i = 1; i < n; ++i)
    couple(A, i, pick(random, 0, i - 1), spread == 0 ? 1 : ten_to(pick(random, -spread, spread)));
  return A;
}

Dense definite(Random& random, int n) {
  if (random.below(2) == 0) return second_differences(n);
  return sum(random_gram(random, n, n), diagonal(std::vector<double>(n, 1)));
}

SystemProblem graded(Random& random) {
  int const n = pick_order(random);
  return with_any_rhs(random,
                      scaled_by(definite(random, n), random_scales(random, n, pick(random, 1, 8))));
}

SystemProblem plain(Random& random) {
  int const n = pick_order(random, 80);
  return with_any_rhs(random, definite(random, n));
}

SystemProblem graph_consistent(Random& random) {
  return with_solvable_rhs(random, tree(random, pick_order(random), 0), true);
}

SystemProblem graph_any(Random& random) {
  return with_any_rhs(random, tree(random, pick_order(random), 0), true);
}

SystemProblem components(Random& random) {
  Dense A = tree(random, pick(random, 1, 8), 0);
  for (int k = pick(random, 1, 3); k > 0; --k) A = beside(A, tree(random, pick(random, 1, 8), 0));
  return with_any_rhs(random, permuted(A, random_order(random, A.order())), true);
}

SystemProblem weighted(Random& random) {
  return with_any_rhs(random, tree(random, pick_order(random), pick(random, 1, 8)));
}

/// L + s I: singular, nearly.
SystemProblem nearly_singular(Random& random) {
  int const n = pick_order(random);
  double const shift = ten_to(pick(random, -16, -4));
  return with_any_rhs(random, sum(tree(random, n, 0), diagonal(std::vector<double>(n, shift))));
}

/// Free bars in the plane: rigid modes, but for the rounding of the entries.
SystemProblem body(Random& random) {
  int const nodes = pick(random, 3, 7), n = 2 * nodes;
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(random.value<double>());
  Dense A(n);
  for (int p = 0; p < nodes; ++p)
    for (int q = 0; q < p; ++q) {
      double const e[] = {x[2 * p] - x[2 * q], x[2 * p + 1] - x[2 * q + 1]};
      double const square = e[0] * e[0] + e[1] * e[1];
      for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) {
          double const entry = e[a] * e[b] / square;
          if (b <= a) A.add(2 * p + a, 2 * p + b, entry);
          if (b <= a) A.add(2 * q + a, 2 * q + b, entry);
          A.add(2 * p + a, 2 * q + b, -entry);
        }
    }
  return random.below(2) == 0 ? with_solvable_rhs(random, A) : with_any_rhs(random, A);
}

SystemProblem repeated_rows(Random& random) {
  int const n = pick_order(random, 20);
  Dense const A = random_gram(random, n, pick(random, 1, n - 1));
  return random.below(2) == 0 ? with_solvable_rhs(random, A, true) : with_any_rhs(random, A, true);
}

SystemProblem wilkinson(Random& random) {
  int const half = pick(random, 2, 12);
  Dense A(2 * half + 1);
  for (int i = 0; i < A.order(); ++i) A.set(i, i, std::abs(i - half));
  for (int i = 0; i + 1 < A.order(); ++i) A.set(i, i + 1, 1);
  return with_any_rhs(random, A, true);
}

/// [[0, 1], [1, 0]] many times, saddle points, and differences of either sign.
SystemProblem indefinite(Random& random) {
  int const n = pick_order(random, 20);
  auto const kind = random.below(4);
  Dense A = kind == 3 ? random_symmetric(random, n) : Dense(2 * n);
  if (kind == 0)
    for (int i = 0; i < n; ++i) A.set(2 * i, 2 * i + 1, 1);
  if (kind == 1)
    for (int i = 0; i < n; ++i) A.set(i, i, 2), A.set(n + i, i, 1);
  if (kind == 2) A = beside(second_differences(n), times(second_differences(n), -1));
  return with_any_rhs(random, A, kind < 3);
}

SystemProblem slightly_indefinite(Random& random) {
  int const n = pick_order(random);
  Dense A = second_differences(n);
  A.add(pick(random, 0, n - 1), pick(random, 0, n - 1), -ten_to(pick(random, -6, 1)));
  return with_any_rhs(random, A);
}

SystemProblem semidefinite_and_negative(Random& random) {
  int const n = pick_order(random, 20);
  Dense A = beside(tree(random, n, 0), diagonal({-1.0}));
  A.set(n, 0, 1);
  return with_any_rhs(random, A, true);
}

SystemProblem negative(Random& random) {
  int const n = pick_order(random);
  return with_any_rhs(random, times(definite(random, n), -1));
}

SystemProblem hilbert(Random& random) {
  int const n = pick(random, 4, 14);
  Dense A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) A.set(i, j, 1.0 / (i + j + 1));
  return random.below(2) == 0 ? with_solvable_rhs(random, A) : with_any_rhs(random, A);
}

SystemProblem penalties(Random& random) {
  int const n = pick_order(random);
  Dense A = second_differences(n);
  for (int k = pick(random, 1, 3); k > 0; --k) {
    int const i = pick(random, 0, n - 1), j = pick(random, 0, n - 1);
    double const penalty = ten_to(pick(random, 6, 14));
    if (i == j)
      A.add(i, i, penalty);
    else
      couple(A, i, j, penalty);
  }
  return with_any_rhs(random, A);
}

/// Ordinary columns beside zero, huge, tiny, denormal and infinite ones, and multiples of each
/// other.
SystemProblem neighbours(Random& random) {
  int const n = pick_order(random, 20);
  Dense const A = random.below(3) == 0 ? tree(random, n, 0) : definite(random, n);
  SystemProblem result = with_any_rhs(random, A);
  for (int k = pick(random, 1, 4); k > 0; --k) {
    constexpr double sizes[] = {0, 1e300, 1e-300, 4e-320, 5e-324, 1e160, 1e-160, -1, 3};
    Vector b = random.below(2) == 0 ? random_vector(random, n) : result.rhs[0];
    double const size = sizes[random.below(9)];
    for (auto& x : b) x *= size;
    if (random.below(8) == 0) b[0] = std::numeric_limits<double>::quiet_NaN();
    if (random.below(8) == 0) b[n - 1] = std::numeric_limits<double>::infinity();
    result.rhs.insert(result.rhs.begin() + pick(random, 0, static_cast<int>(result.rhs.size())), b);
  }
  return result;
}

SystemProblem empty_rows(Random& random) {
  int const n = pick_order(random, 20), empty = pick(random, 1, 4);
  Dense const A = beside(definite(random, n), Dense(empty));
  return with_any_rhs(random, permuted(A, random_order(random, n + empty)), true);
}

SystemProblem zero_diagonal(Random& random) {
  int const n = pick_order(random, 20);
  Dense A = definite(random, n);
  A.set(pick(random, 0, n - 1), 0, 1);
  int const row = pick(random, 0, n - 1);
  A.set(row, row, 0);
  return with_any_rhs(random, A, true);
}

SystemProblem tiny_order(Random& random) {
  int const n = pick(random, 1, 2);
  Dense const A = random.below(2) == 0 ? random_gram(random, n, pick(random, 0, 2))
                                       : random_symmetric(random, n);
  return with_any_rhs(random, scaled_by(A, random_scales(random, n, pick(random, 0, 20))));
}

SystemProblem other_units(Random& random) {
  int const n = pick_order(random);
  constexpr double units[] = {1e-100, 1e-40, 1e40, 1e100};
  return with_any_rhs(random, times(definite(random, n), units[random.below(4)]));
}

constexpr SystemGenerator all_systems[] = {
    {"plain", plain},
    {"graded", graded},
    {"graphs, b in the range", graph_consistent},
    {"graphs, any b", graph_any},
    {"components, any b", components},
    {"weighted graphs", weighted},
    {"nearly singular", nearly_singular},
    {"bodies of springs", body},
    {"repeated rows", repeated_rows},
    {"Wilkinson", wilkinson},
    {"indefinite", indefinite},
    {"slightly indefinite", slightly_indefinite},
    {"semidefinite and negative", semidefinite_and_negative},
    {"negative definite", negative},
    {"Hilbert", hilbert},
    {"penalties", penalties},
    {"odd columns beside others", neighbours},
    {"empty rows", empty_rows},
    {"a zero on the diagonal", zero_diagonal},
    {"orders 1 and 2", tiny_order},
    {"other units", other_units},
};

}  // namespace

std::span<SystemGenerator const> systems() { return all_systems; }

}  // namespace blockspan::test
