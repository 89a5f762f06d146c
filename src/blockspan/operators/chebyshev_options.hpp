#pragma once

#include <cstdint>

namespace blockspan {

/// The defaults of all interfaces: C++, the programs, C, Python.
struct ChebyshevOptions {
  int degree = 8;
  /// b / a, the ratio of the ends of the interval. Eigenvalues below a are left to the iteration.
  /// Higher degrees gain from larger ratios, but little: 100 is adequate for degrees 4 to 16.
  double ratio = 100;
  std::uint64_t seed = 1;  ///< of the random start vector of the estimate
};

}  // namespace blockspan
