#include <cmath>

#include <blockspan/sparse/generators/spec/generator_lengths.hpp>

namespace blockspan::sparse {
namespace {

/// survival(s, l) for all l, with the scale s for which the mean length is `mean`.
template <class Survival>
std::vector<std::uint64_t> table_of_mean(double mean, std::int64_t most, Survival const& survival) {
  auto const mean_of = [&](double scale) {
    double sum = 0;
    for (std::int64_t l = 0; l < most; ++l) sum += survival(scale, l);
    return sum;
  };
  double low = -40, high = 80;  // log2 of the scale; the mean increases with it, from 1 to most
  for (int step = 0; step < 60; ++step) {
    double const middle = (low + high) / 2;
    (mean_of(std::exp2(middle)) < mean ? low : high) = middle;
  }
  std::vector<std::uint64_t> table(static_cast<std::size_t>(most));
  for (std::int64_t l = 0; l < most; ++l)
    table[static_cast<std::size_t>(l)] =
        static_cast<std::uint64_t>(std::ldexp(survival(std::exp2(high), l), 53));
  return table;
}

}  // namespace

LengthRange half_to_full(double most) {
  constexpr double slack = 0x1p-50;
  return {static_cast<std::int64_t>(std::ceil(most / 2 * (1 - slack))),
          static_cast<std::int64_t>(std::floor(most * (1 + slack)))};
}

std::vector<std::uint64_t> power_law_survival(double mean, double alpha, std::int64_t most) {
  return table_of_mean(mean, most, [alpha](double scale, std::int64_t l) {
    return std::pow(1 + static_cast<double>(l) / scale, 1 - alpha);
  });
}

std::vector<std::uint64_t> lognormal_survival(double mean, double sigma, std::int64_t most) {
  return table_of_mean(mean, most, [sigma](double scale, std::int64_t l) {
    return std::erfc(std::log(static_cast<double>(l) / scale) / (sigma * std::sqrt(2.0))) / 2;
  });
}

}  // namespace blockspan::sparse
