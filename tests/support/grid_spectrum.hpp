#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace blockspan::test {

/// All eigenvalues of the 7-point matrix of an N^3 grid (diagonal 6), ascending: sums of three 2 -
/// 2 cos(k pi / (N + 1)).
inline std::vector<double> grid7_spectrum(int N) {
  std::vector<double> line, all;
  for (int k = 1; k <= N; ++k) line.push_back(2 - 2 * std::cos(k * std::acos(-1.0) / (N + 1)));
  for (double const x : line)
    for (double const y : line)
      for (double const z : line) all.push_back(x + y + z);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace blockspan::test
