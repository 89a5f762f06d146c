#include "claims/problem.hpp"

#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace blockspan::test {

namespace {
std::optional<std::pair<int, int>> larger_orders;
}  // namespace

LargerOrders::LargerOrders(int low, int high) { larger_orders = {low, high}; }
LargerOrders::~LargerOrders() { larger_orders.reset(); }

int pick_order(Random& random, int most) {
  constexpr int unlimited = 40;
  if (larger_orders) {
    auto const [low, high] = *larger_orders;
    return most < unlimited ? pick(random, std::min(low, most), most) : pick(random, low, high);
  }
  return random.below(8) == 0 ? pick(random, 13, most) : pick(random, 3, 12);
}

double ten_to(int exponent) {
  return std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr);
}

std::vector<double> random_scales(Random& random, int n, int spread) {
  std::vector<double> d;
  for (int i = 0; i < n; ++i) d.push_back(ten_to(pick(random, -spread, spread)));
  return d;
}

Dense diagonal(std::vector<double> const& values) {
  Dense A(static_cast<int>(values.size()));
  for (int i = 0; i < A.order(); ++i) A.set(i, i, values[i]);
  return A;
}

Dense second_differences(int n) {
  Dense A(n);
  for (int i = 0; i < n; ++i) A.set(i, i, 2);
  for (int i = 0; i + 1 < n; ++i) A.set(i, i + 1, -1);
  return A;
}

Dense random_gram(Random& random, int n, int rank) {
  std::vector<std::vector<double>> G(n);
  for (auto& row : G)
    for (int k = 0; k < rank; ++k) row.push_back(pick(random, -3, 3));
  Dense A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      A.set(i, j, std::inner_product(G[i].begin(), G[i].end(), G[j].begin(), 0.0));
  return A;
}

Dense random_symmetric(Random& random, int n) {
  Dense A(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) A.set(i, j, random.value<double>());
  return A;
}

Dense rotated(Random& random, std::vector<double> const& values) {
  int const n = static_cast<int>(values.size());
  std::vector<std::vector<double>> A(n, std::vector<double>(n));
  for (int i = 0; i < n; ++i) A[i][i] = values[i];
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<double> v(n), w(n);
    double square = 0, curvature = 0;
    for (double& x : v) x = random.value<double>(), square += x * x;
    if (square == 0) continue;
    // (I - 2 v v^T / v^T v) A (I - 2 v v^T / v^T v) = A - v u^T - u v^T
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) w[i] += A[i][j] * v[j];
      curvature += v[i] * w[i];
    }
    for (int i = 0; i < n; ++i) w[i] = 2 * (w[i] - curvature / square * v[i]) / square;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) A[i][j] -= v[i] * w[j] + w[i] * v[j];
  }
  Dense result(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A[i][j]);
  return result;
}

Dense scaled_by(Dense const& A, std::vector<double> const& d) {
  Dense result(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A(i, j) * d[i] * d[j]);
  return result;
}

Dense times(Dense const& A, double factor) {
  Dense result(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A(i, j) * factor);
  return result;
}

Dense sum(Dense const& A, Dense const& B) {
  Dense result(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A(i, j) + B(i, j));
  return result;
}

Dense permuted(Dense const& A, std::vector<int> const& order) {
  Dense result(A.order());
  for (int i = 0; i < A.order(); ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A(order[i], order[j]));
  return result;
}

std::vector<int> random_order(Random& random, int n) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[pick(random, 0, i)]);
  return order;
}

Dense beside(Dense const& A, Dense const& B) {
  int const n = A.order();
  Dense result(n + B.order());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) result.set(i, j, A(i, j));
  for (int i = 0; i < B.order(); ++i)
    for (int j = 0; j <= i; ++j) result.set(n + i, n + j, B(i, j));
  return result;
}

void couple(Dense& A, int i, int j, double w) {
  A.add(i, i, w), A.add(j, j, w);
  A.add(i, j, -w);
}

Dense with_phases(Dense const& A, std::vector<std::complex<double>> const& phases) {
  Dense result(A.order());
  for (int i = 0; i < A.order(); ++i) {
    for (int j = 0; j < i; ++j) result.set(i, j, A(i, j) * (phases[i] * std::conj(phases[j])));
    result.set(i, i, A(i, i).real());
  }
  return result;
}

std::vector<std::complex<double>> random_phases(Random& random, int n, bool exact) {
  std::complex<double> const quarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}},
                             others[] = {{0.6, 0.8}, {0.8, -0.6}, {-0.28, 0.96}, {1, 0}};
  std::vector<std::complex<double>> phases;
  for (int i = 0; i < n; ++i) phases.push_back((exact ? quarters : others)[pick(random, 0, 3)]);
  return phases;
}

}  // namespace blockspan::test
