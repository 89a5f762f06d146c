// Graphs and bodies: multiple eigenvalues, whole ones, exact zeros and rigid modes.
#include <cmath>

#include "claims/problem.hpp"

namespace blockspan::test {

namespace {

double weight(Random& random, int spread) {
  return spread == 0 ? 1 : ten_to(pick(random, -spread, spread));
}

/// The Laplacian of a path, star, cycle, cube, complete or bipartite graph.
Dense graph(Random& random, int n, int spread) {
  auto const kind = random.below(6);
  if (kind == 3) {
    int const dimension = n < 8 ? 2 : n < 16 ? 3 : 4;
    n = 1 << dimension;
    Dense A(n);
    for (int i = 0; i < n; ++i)
      for (int axis = 0; axis < dimension; ++axis)
        if ((i >> axis & 1) == 0) couple(A, i, i | 1 << axis, weight(random, spread));
    return A;
  }
  Dense A(n);
  for (int i = 1; i < n; ++i) {
    if (kind < 2 || (kind == 2 && i > 1)) couple(A, i, i - 1, weight(random, spread));
    if (kind == 2 || (kind == 1 && i == n - 1 && n > 2)) couple(A, i, 0, weight(random, spread));
    for (int j = 0; j < i; ++j)
      if (kind == 4 || (kind == 5 && (i + j) % 2 == 1)) couple(A, i, j, weight(random, spread));
  }
  return A;
}

EigenProblem laplacian(Random& random) {
  return {graph(random, pick_order(random), 0), {}, false, true};
}

EigenProblem components(Random& random) {
  Dense A = graph(random, pick(random, 1, 8), 0);
  for (int k = pick(random, 1, 4); k > 0; --k) {
    Dense const more = graph(random, pick(random, 1, 8), 0);
    A = beside(A, times(more, random.below(3) == 0 ? std::ldexp(1.0, pick(random, -50, 50)) : 1));
  }
  return {permuted(A, random_order(random, A.order())), {}, false, true};
}

EigenProblem weighted(Random& random) {
  return {graph(random, pick_order(random), pick(random, 1, 8))};
}

EigenProblem weighted_components(Random& random) {
  Dense const A = graph(random, pick(random, 2, 8), 4), B = graph(random, pick(random, 2, 8), 8);
  return {beside(A, B)};
}

/// Graphs with degrees as masses (random walks) or any.
EigenProblem graph_pencil(Random& random) {
  Dense const A = graph(random, pick_order(random), 0);
  bool const degrees = random.below(2) == 0;
  std::vector<double> d;
  for (int i = 0; i < A.order(); ++i)
    d.push_back(degrees && A.order() > 1 ? A(i, i).real() : ten_to(pick(random, -4, 4)));
  for (double& x : d)
    if (x == 0) x = 1;
  return {A, diagonal(d), false, true};
}

EigenProblem adjacency(Random& random) {
  Dense A = graph(random, pick_order(random), 0);
  for (int i = 0; i < A.order(); ++i) A.set(i, i, 0);
  return {A, {}, false, true};
}

EigenProblem negative(Random& random) {
  Dense const A = random.below(2) == 0 ? graph(random, pick_order(random), 0)
                                       : second_differences(pick_order(random));
  return {times(A, -1), {}, false, true};
}

EigenProblem multiples(Random& random) {
  int const n = pick_order(random);
  return {diagonal(std::vector<double>(n, pick(random, -1, 1) * 0.1)), {}, false, true};
}

/// Springs between random points in space: rigid modes, but for the rounding of the entries.
EigenProblem bodies(Random& random) {
  int const space = pick(random, 1, 3), nodes = pick(random, space + 1, 6), n = space * nodes;
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(random.value<double>());
  int const spread = random.below(2) == 0 ? 0 : 4;
  Dense A(n);
  for (int p = 0; p < nodes; ++p)
    for (int q = 0; q < p; ++q) {
      double e[3], length = 0;
      for (int a = 0; a < space; ++a)
        e[a] = x[space * p + a] - x[space * q + a], length += e[a] * e[a];
      double const k = weight(random, spread);
      for (int a = 0; a < space; ++a)
        for (int b = 0; b < space; ++b) {
          double const entry = k * e[a] * e[b] / length;
          if (b <= a) A.add(space * p + a, space * p + b, entry);
          if (b <= a) A.add(space * q + a, space * q + b, entry);
          A.add(space * p + a, space * q + b, -entry);
        }
    }
  EigenProblem result{A};
  if (random.below(2) == 0)
    result.B = diagonal(random_scales(random, n, random.below(2) == 0 ? 0 : 3));
  return result;
}

EigenProblem chains(Random& random) {
  int const n = pick_order(random);
  Dense A(n);
  for (int i = 0; i + 1 < n; ++i) couple(A, i, i + 1, 0.1 * pick(random, 1, 30));
  EigenProblem result{A};
  if (random.below(2) == 0) {
    std::vector<double> d;
    for (int i = 0; i < n; ++i) d.push_back(0.1 * pick(random, 1, 30));
    result.B = diagonal(d);
  }
  return result;
}

/// The sum of two chains, as grids are: many double values.
EigenProblem grid(Random& random) {
  int const m = pick(random, 2, 6);
  Dense A(m * m);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      A.add(i * m + j, i * m + j, 4);
      if (j > 0) A.set(i * m + j, i * m + j - 1, -1);
      if (i > 0) A.set(i * m + j, i * m + j - m, -1);
    }
  return {A, {}, false, true};
}

constexpr EigenGenerator all_graphs[] = {
    {"Laplacians", laplacian},
    {"unions of components", components},
    {"weighted graphs", weighted},
    {"weighted components", weighted_components},
    {"graphs with masses", graph_pencil},
    {"adjacency", adjacency},
    {"negative (semi)definite", negative},
    {"multiples of I", multiples},
    {"bodies of springs", bodies},
    {"free chains", chains},
    {"grids", grid},
};

}  // namespace

std::span<EigenGenerator const> graphs() { return all_graphs; }

}  // namespace blockspan::test
