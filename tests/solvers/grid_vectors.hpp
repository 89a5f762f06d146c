#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace blockspan::test {

/// Eigenvectors of the 7-point grid in the order of grid7_spectrum: products of three sines.
struct GridVectors {
  int N;
  std::vector<std::array<int, 3>> modes;

  explicit GridVectors(int nodes) : N(nodes) {
    for (int x = 1; x <= N; ++x)
      for (int y = 1; y <= N; ++y)
        for (int z = 1; z <= N; ++z) modes.push_back({x, y, z});
    auto const value = [this](std::array<int, 3> const& k) {
      double sum = 0;
      for (int const d : k) sum += 2 - 2 * std::cos(d * std::acos(-1.0) / (N + 1));
      return sum;
    };
    std::stable_sort(modes.begin(), modes.end(),
                     [&](auto const& a, auto const& b) { return value(a) < value(b); });
  }
  double operator()(int row, int mode) const {
    int const at[3] = {row % N, row / N % N, row / (N * N)};
    double product = 1;
    for (int d = 0; d < 3; ++d)
      product *= std::sin((at[d] + 1) * modes[mode][d] * std::acos(-1.0) / (N + 1));
    return product;
  }
};

}  // namespace blockspan::test
