// Spectra that are hard to tell apart: clusters, near multiples, indefinite ones.
#include <cmath>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

Dense wilkinson_matrix(int half) {
  Dense A(2 * half + 1);
  for (int i = 0; i < A.order(); ++i) A.set(i, i, std::abs(i - half));
  for (int i = 0; i + 1 < A.order(); ++i) A.set(i, i + 1, 1);
  return A;
}

EigenProblem wilkinson(Random& random) {
  constexpr int halves[] = {10, 10, 5, 7, 15};
  return {wilkinson_matrix(halves[random.below(5)]), {}, false, true};
}

EigenProblem glued_wilkinson(Random& random) {
  int const half = pick(random, 3, 8), copies = pick(random, 2, 4);
  Dense A = wilkinson_matrix(half);
  double const glue = ten_to(pick(random, -14, -2));
  for (int k = 1; k < copies; ++k) {
    int const end = A.order();
    A = beside(A, wilkinson_matrix(half));
    A.set(end, end - 1, glue);
  }
  return {A};
}

EigenProblem anderson(Random& random) {
  int const n = pick_order(random, 80), disorder = pick(random, 1, 20);
  Dense A(n);
  for (int i = 0; i < n; ++i) A.set(i, i, disorder * random.value<double>());
  for (int i = 0; i + 1 < n; ++i) A.set(i, i + 1, 1);
  return {A};
}

EigenProblem clustered(Random& random) {
  int const n = pick_order(random, 30), centers = pick(random, 1, 4);
  double const width = ten_to(pick(random, -14, -3));
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i % centers - 1 + width * random.value<double>());
  return {rotated(random, values)};
}

EigenProblem near_multiple(Random& random) {
  int const n = pick_order(random, 30);
  double const gap = ten_to(pick(random, -13, -6));
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i / 2 + 1 + (i % 2) * gap);
  return {random.below(2) == 0 ? rotated(random, values) : diagonal(values)};
}

/// Values over many orders of magnitude behind a rotation: the small ones are lost in rounding.
EigenProblem rotated_scales(Random& random) {
  int const n = pick_order(random, 20);
  return {rotated(random, random_scales(random, n, pick(random, 1, 10)))};
}

EigenProblem rank_one_update(Random& random) {
  int const n = pick_order(random);
  Dense A = random.below(2) == 0 ? diagonal(std::vector<double>(n, 1)) : second_differences(n);
  double const size = ten_to(pick(random, -8, 8));
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(random.value<double>());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) A.add(i, j, size * v[i] * v[j]);
  return {A};
}

EigenProblem toeplitz(Random& random) {
  int const n = pick_order(random);
  std::vector<double> c;
  for (int i = 0; i < n; ++i) c.push_back(pick(random, -4, 4));
  Dense A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) A.set(i, j, c[i - j]);
  return {A, {}, false, true};
}

EigenProblem of_low_rank(Random& random) {
  int const n = pick_order(random, 30), rank = pick(random, 0, n - 1);
  return {random_gram(random, n, rank), {}, false, true};
}

EigenProblem saddle(Random& random) {
  int const n = pick_order(random, 20), m = pick(random, 1, n);
  Dense const K = scaled_by(second_differences(n), random_scales(random, n, pick(random, 0, 3)));
  Dense A = beside(K, Dense(m));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      if (i == j || random.below(4) == 0) A.set(n + i, j, pick(random, 1, 3));
  return {A};
}

/// (0 C; C^T 0): pairs of opposite sign, and zeros.
EigenProblem opposite(Random& random) {
  int const n = pick(random, 1, 8), m = pick(random, 1, 8);
  double const size = ten_to(pick(random, -20, 20));
  Dense A(n + m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) A.set(n + i, j, pick(random, -2, 2) * size);
  return {A};
}

EigenProblem rosser(Random& random) {
  constexpr double entries[8][8] = {
      {611, 196, -192, 407, -8, -52, -49, 29}, {196, 899, 113, -192, -71, -43, -8, -44},
      {-192, 113, 899, 196, 61, 49, 8, 52},    {407, -192, 196, 611, 8, 44, 59, -23},
      {-8, -71, 61, 8, 411, -599, 208, 208},   {-52, -43, 49, 44, -599, 411, 208, 208},
      {-49, -8, 8, 59, 208, 208, 99, -911},    {29, -44, 52, -23, 208, 208, -911, 99}};
  Dense A(8);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j <= i; ++j) A.set(i, j, entries[i][j]);
  return {permuted(A, random_order(random, 8)), {}, false, true};
}

EigenProblem whole(Random& random) {
  int const n = pick_order(random);
  Dense A(n);  // |i - j| (Fiedler), min(i, j), or all ones
  auto const kind = random.below(3);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) A.set(i, j, kind == 0 ? i - j : kind == 1 ? j + 1 : 1);
  return {A, {}, false, true};
}

EigenProblem random_any(Random& random) {
  int const n = pick_order(random);
  EigenProblem result{random_symmetric(random, n)};
  if (random.below(2) == 0)
    result.B = sum(random_gram(random, n, n), diagonal(std::vector<double>(n, 1)));
  return result;
}

/// A far value, or a band of them, over close ones near zero of both signs.
EigenProblem near_zero(Random& random) {
  int const n = pick_order(random, 20);
  double const small = ten_to(pick(random, -18, -4));
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    values.push_back(random.below(2) == 0 ? small * random.value<double>() : pick(random, -3, 3));
  return {random.below(3) == 0 ? diagonal(values) : rotated(random, values)};
}

constexpr EigenGenerator all_spectra[] = {
    {"Wilkinson", wilkinson},
    {"glued Wilkinson", glued_wilkinson},
    {"Anderson", anderson},
    {"clusters", clustered},
    {"near multiples", near_multiple},
    {"scales behind rotations", rotated_scales},
    {"rank-one updates", rank_one_update},
    {"Toeplitz", toeplitz},
    {"low rank", of_low_rank},
    {"saddle points", saddle},
    {"values of opposite sign", opposite},
    {"Rosser", rosser},
    {"whole numbers", whole},
    {"random", random_any},
    {"values near zero", near_zero},
};

}  // namespace

std::span<EigenGenerator const> spectra() { return all_spectra; }

}  // namespace blockspan::test
