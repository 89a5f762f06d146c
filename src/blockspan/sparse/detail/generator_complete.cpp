#include <algorithm>
#include <cmath>

#include <blockspan/sparse/detail/generator_complete.hpp>
#include <blockspan/sparse/detail/generator_lengths.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::detail {
namespace {

constexpr std::int64_t most_ordinal = 2147483647;

/// a * b, refused beyond a 32-bit ordinal; both factors are at most 2^31.
std::int64_t ordinal_product(GeneratorSpec const& spec, std::int64_t a, std::int64_t b) {
  require(a <= most_ordinal && b <= most_ordinal && a * b <= most_ordinal, "generator", "'",
          spec.text, "' has more than ", most_ordinal, " rows or columns, a 32-bit index");
  return a * b;
}

void square(GeneratorSpec& spec, std::int64_t n) { spec.rows = spec.columns = n; }

void complete_rows(GeneratorSpec& spec, double longest) {
  spec.rows = spec.sizes[0];
  spec.columns = spec.sizes[1];
  require(longest <= double(spec.columns), "generator", "rows of '", spec.text,
          "' may have as many as ", longest, " nonzeros but there are only ", spec.columns,
          " columns");
  spec.is_symmetric = spec.symmetric;
}

void complete_half_to_full(GeneratorSpec& spec, double most) {
  LengthRange const range = half_to_full(most);
  require(range.least <= range.most, "generator", "no whole number of nonzeros a row lies between ",
          most / 2, " and ", most, " in '", spec.text, "'; hypersparse has rows of so few");
  complete_rows(spec, double(range.most));
  if (range.least == range.most && !spec.symmetric) spec.nonzeros = spec.rows * range.most;
}

}  // namespace

/// Pairs of neighbours, both ways, of a grid whose points reach one step along each axis alone.
void complete_star(GeneratorSpec& spec) {
  std::int64_t n = 1;
  for (std::int64_t size : spec.sizes) n = ordinal_product(spec, n, size);
  square(spec, n);
  spec.nonzeros = n;
  for (std::int64_t size : spec.sizes)
    if (n > 0) spec.nonzeros += 2 * (n - n / size);
  spec.is_symmetric = spec.is_positive_definite = true;
}

void complete_box(GeneratorSpec& spec) {
  complete_star(spec);
  spec.nonzeros = spec.rows > 0 ? 1 : 0;
  for (std::int64_t size : spec.sizes) spec.nonzeros *= std::max<std::int64_t>(3 * size - 2, 0);
}

void complete_elasticity(GeneratorSpec& spec) {
  std::int64_t const n = spec.sizes[0], line = spec.clamped ? n - 1 : n;
  square(spec, ordinal_product(spec, 3, ordinal_product(spec, line, ordinal_product(spec, n, n))));
  bool const mass = spec.name == "elasticity-mass";
  spec.nonzeros = (mass ? 3 : 9) * (3 * line - 2) * (3 * n - 2) * (3 * n - 2);
  spec.is_symmetric = true;
  spec.is_positive_definite = mass || spec.clamped;
}

void complete_p1(GeneratorSpec& spec) {
  std::int64_t const n = spec.sizes[0], line = spec.clamped ? n - 1 : n;
  square(spec, ordinal_product(spec, line, ordinal_product(spec, n, n)));
  spec.nonzeros = -spec.rows;
  for (int d = 0; d < 8; ++d) spec.nonzeros += 2 * (line - d % 2) * (n - d / 2 % 2) * (n - d / 4);
  spec.is_symmetric = true;
  spec.is_positive_definite = spec.name == "p1-mass" || spec.clamped;
}

void complete_rmat(GeneratorSpec& spec) {
  double const edges = std::ldexp(spec.numbers[1], static_cast<int>(spec.numbers[0]));
  require(edges <= 0x1p40, "generator", "'", spec.text, "' draws ", edges,
          " edges, more than 2^40");
  double const sum = spec.options.at("a") + spec.options.at("b") + spec.options.at("c");
  require(sum <= 1, "generator", "a + b + c is ", sum, " in '", spec.text,
          "', at most 1 is needed");
  square(spec, std::int64_t(1) << static_cast<int>(spec.numbers[0]));
  spec.is_symmetric = spec.symmetric;
}

void complete_uniform(GeneratorSpec& spec) {
  complete_half_to_full(spec, double(spec.sizes[1]) * spec.numbers[0] / 100);
}
void complete_wide(GeneratorSpec& spec) { complete_half_to_full(spec, 4 * spec.numbers[0] / 3); }

void complete_fixed(GeneratorSpec& spec) {
  complete_rows(spec, spec.numbers[0]);
  if (!spec.symmetric) spec.nonzeros = spec.rows * static_cast<std::int64_t>(spec.numbers[0]);
}

void complete_hypersparse(GeneratorSpec& spec) { complete_rows(spec, std::ceil(spec.numbers[0])); }

void complete_powerlaw(GeneratorSpec& spec) {
  double& most = spec.options["max"];
  if (most == 0) most = double(std::min<std::int64_t>(spec.sizes[1], 65536));
  complete_rows(spec, most);
  require(spec.numbers[0] <= most, "generator", "an average of ", spec.numbers[0],
          " nonzeros a row exceeds the longest row, ", most, ", in '", spec.text, "'");
}

void complete_banded(GeneratorSpec& spec) {
  square(spec, spec.sizes[0]);
  double& half = spec.numbers[0];
  half = std::min(half, double(std::max<std::int64_t>(spec.rows - 1, 0)));
  auto const h = static_cast<std::int64_t>(half);
  spec.nonzeros = spec.rows * (2 * h + 1) - h * (h + 1);
  spec.is_symmetric = spec.symmetric;
}

}  // namespace blockspan::detail
