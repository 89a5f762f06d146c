#pragma once

#include <cstdint>
#include <vector>

namespace blockspan::sparse {

/// The integers between half of `most` and `most`; the bounds are widened by a rounding error, so
/// that a percentage such as 0.7 of 1000 gives 7, not 6.
struct LengthRange {
  std::int64_t least;
  std::int64_t most;
};
LengthRange half_to_full(double most);

/// 2^53 * P(length > l) for l = 0 .. most - 1, with P(length > l) = (1 + l / s)^(1 - alpha) (a
/// discrete Lomax law: tail exponent alpha) and s such that the mean length is `mean`, by
/// bisection. Needs 1 <= mean <= most, alpha > 1. O(most) powers, 64 times.
std::vector<std::uint64_t> power_law_survival(double mean, double alpha, std::int64_t most);

/// The same for a lognormal distribution: P(length > l) = P(s e^(sigma z) > l) with z normal.
std::vector<std::uint64_t> lognormal_survival(double mean, double sigma, std::int64_t most);

}  // namespace blockspan::sparse
