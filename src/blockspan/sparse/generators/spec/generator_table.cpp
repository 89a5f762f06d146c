#include <algorithm>
#include <cmath>

#include <blockspan/sparse/generators/spec/generator_lengths.hpp>
#include <blockspan/sparse/generators/spec/generator_table.hpp>
#include <blockspan/support/error.hpp>

namespace blockspan::sparse {
namespace {

// Completes a parsed spec: rows, columns, nonzeros where they do not depend on the seed, symmetry
// and definiteness; also checks values against each other. Each function throws Error.

constexpr std::int64_t most_ordinal = 2147483647;

/// a * b; throws if beyond a 32-bit ordinal. Both factors are at most 2^31.
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

/// Counts the nonzeros of a grid stencil that couples each point to its nearest neighbour in both
/// directions of each axis.
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

void complete_tabulated(GeneratorSpec& spec) {
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

void complete_reach(GeneratorSpec& spec) {
  complete_star(spec);
  spec.nonzeros = spec.rows;
  for (std::int64_t size : spec.sizes)
    for (std::int64_t d = 1; d <= std::int64_t(spec.numbers[0]) && d < size; ++d)
      spec.nonzeros += 2 * (spec.rows / size) * (size - d);
}

void complete_spins(GeneratorSpec& spec) {
  require(spec.sizes[0] <= 30, "generator", "SITES is ", spec.sizes[0], " in '", spec.text,
          "', not between 3 and 30");
  square(spec, std::int64_t(1) << spec.sizes[0]);
  spec.nonzeros = spec.rows + spec.sizes[0] * (spec.rows / 2);
  spec.is_symmetric = true;
}

void complete_queues(GeneratorSpec& spec) {
  std::int64_t const c = spec.sizes[0], two = ordinal_product(spec, c, c);
  square(spec, ordinal_product(spec, two, two));
  spec.nonzeros = spec.rows + (c > 0 ? (2 * c + 3 * (c - 1)) * (c - 1) * two : 0);
}

/// Checks the second and third value: number of long rows, and columns of each.
void complete_long_rows(GeneratorSpec& spec, std::int64_t rows) {
  square(spec, rows);
  for (std::size_t const which : {std::size_t(1), std::size_t(2)})
    require(spec.numbers[which] <= double(rows), "generator", which == 1 ? "LONG" : "LENGTH",
            " is ", spec.numbers[which], " in '", spec.text, "', but there are only ", rows,
            which == 1 ? " rows" : " columns");
  spec.is_symmetric = spec.symmetric;
}

void complete_wells(GeneratorSpec& spec) {
  std::int64_t rows = static_cast<std::int64_t>(spec.numbers[0]);
  for (std::int64_t size : spec.sizes) rows = ordinal_product(spec, rows, size);
  complete_long_rows(spec, rows);
}

void complete_circuit(GeneratorSpec& spec) { complete_long_rows(spec, spec.sizes[0]); }

void complete_patches(GeneratorSpec& spec) {
  square(spec, spec.sizes[0]);
  require(spec.numbers[0] <= double(spec.rows), "generator", "PARTS is ", spec.numbers[0], " in '",
          spec.text, "', but there are only ", spec.rows, " rows");
  spec.is_symmetric = spec.symmetric;
}

void complete_attachment(GeneratorSpec& spec) {
  std::int64_t const edges = static_cast<std::int64_t>(spec.numbers[0]);
  require(spec.sizes[0] * edges <= most_ordinal, "generator", "'", spec.text, "' draws ",
          spec.sizes[0] * edges, " edges, more than ", most_ordinal);
  square(spec, spec.sizes[0]);
  spec.is_symmetric = spec.symmetric = true;
}

void complete_saddle(GeneratorSpec& spec) {
  std::int64_t const n = spec.sizes[0], constraints = static_cast<std::int64_t>(spec.numbers[0]);
  require(n + constraints <= most_ordinal, "generator", "'", spec.text, "' has more than ",
          most_ordinal, " rows, a 32-bit index");
  square(spec, n + constraints);
  spec.nonzeros = 3 * n - 2 + 12 * constraints;
  spec.is_symmetric = spec.symmetric = true;
}

constexpr double huge = 1e300;
constexpr double many = 2147483647.0;

constexpr GeneratorSizes cube{.most = 3, .may_repeat = true};
constexpr GeneratorSizes matrix{.most = 2};

GeneratorNumber above_zero(std::string_view name) {
  return {.name = name, .least = 0, .most = huge, .may_be_least = false};
}
GeneratorNumber whole(std::string_view name, double least, double most, double preset = 0) {
  return {.name = name, .least = least, .most = most, .whole = true, .preset = preset};
}
GeneratorNumber real(std::string_view name, double least, double most, double preset = 0) {
  return {.name = name, .least = least, .most = most, .preset = preset};
}

std::vector<GeneratorEntry> grids() {
  return {{.name = "laplace5",
           .form = "laplace5:NXxNY",
           .summary = "5-point grid, 4 and -1",
           .sizes = {.most = 2, .may_repeat = true},
           .complete = complete_star},
          {.name = "laplace7",
           .form = "laplace7:NXxNYxNZ",
           .summary = "7-point grid, 6 and -1; laplace7:N is a cube",
           .sizes = cube,
           .complete = complete_star},
          {.name = "laplace27",
           .form = "laplace27:NXxNYxNZ",
           .summary = "27-point grid, 26 and -1",
           .sizes = cube,
           .complete = complete_box},
          {.name = "aniso7",
           .form = "aniso7:NXxNYxNZ:EX,EY,EZ",
           .summary = "7-point grid, -EX, -EY, -EZ along the axes",
           .sizes = cube,
           .numbers = {above_zero("EX"), above_zero("EY"), above_zero("EZ")},
           .complete = complete_star},
          {.name = "jump7",
           .form = "jump7:NXxNYxNZ:CONTRAST[:width=8]",
           .summary = "7-point grid, cubes of width points with coefficient 1 or CONTRAST",
           .sizes = cube,
           .numbers = {above_zero("CONTRAST")},
           .options = {whole("width", 1, many, 8)},
           .flags = {"seed"},
           .complete = complete_star}};
}

std::vector<GeneratorEntry> bodies() {
  GeneratorSizes const nodes{.most = 1, .least_size = 2};
  return {{.name = "elasticity",
           .form = "elasticity:N[:free]",
           .summary = "elastic unit cube, 8-node bricks, N nodes an edge, clamped at x = 0",
           .sizes = nodes,
           .flags = {"free"},
           .complete = complete_elasticity},
          {.name = "elasticity-mass",
           .form = "elasticity-mass:N[:free]",
           .summary = "its consistent mass matrix",
           .sizes = nodes,
           .flags = {"free"},
           .complete = complete_elasticity},
          {.name = "p1",
           .form = "p1:N[:free]",
           .summary = "Laplacian of the unit cube, linear elements on tetrahedra of a grid of N "
                      "nodes an edge that are moved a little, zero at x = 0",
           .sizes = nodes,
           .flags = {"free", "seed"},
           .complete = complete_p1},
          {.name = "p1-mass",
           .form = "p1-mass:N[:free]",
           .summary = "its consistent mass matrix",
           .sizes = nodes,
           .flags = {"free", "seed"},
           .complete = complete_p1}};
}

std::vector<GeneratorEntry> models() {
  return {{.name = "star",
           .form = "star:NXxNYxNZ:REACH",
           .summary = "Laplacian by differences of order 2 REACH: REACH points to each side",
           .sizes = cube,
           .numbers = {whole("REACH", 1, 8)},
           .complete = complete_reach},
          {.name = "spins",
           .form = "spins:SITES",
           .summary = "Heisenberg's antiferromagnet, a ring of spins 1/2, 2^SITES rows",
           .sizes = {.most = 1, .least_size = 3},
           .complete = complete_spins},
          {.name = "queues",
           .form = "queues:CAPACITY",
           .summary = "Markov chain of four queues in tandem, CAPACITY states each",
           .sizes = {.most = 1},
           .complete = complete_queues}};
}

std::vector<GeneratorEntry> random_ones() {
  std::vector<std::string_view> const flags{"seed", "symmetric", "values"};
  return {{.name = "rmat",
           .form = "rmat:SCALE:EDGEFACTOR[:a=.57:b=.19:c=.19]",
           .summary = "R-MAT graph, 2^SCALE rows, EDGEFACTOR edges a row, repeated ones once",
           .sizes = {.most = 0},
           .numbers = {whole("SCALE", 0, 30), real("EDGEFACTOR", 0, many)},
           .options = {real("a", 0, 1, 0.57), real("b", 0, 1, 0.19), real("c", 0, 1, 0.19)},
           .flags = flags,
           .complete = complete_rmat},
          {.name = "uniform",
           .form = "uniform:MxK:S",
           .summary = "rows have between half of K*S/100 and K*S/100 nonzeros",
           .sizes = matrix,
           .numbers = {real("percentage", 0, 100)},
           .flags = flags,
           .complete = complete_uniform},
          {.name = "fixed",
           .form = "fixed:MxK:D",
           .summary = "D nonzeros a row",
           .sizes = matrix,
           .numbers = {whole("nonzeros a row", 0, many)},
           .flags = flags,
           .complete = complete_fixed},
          {.name = "powerlaw",
           .form = "powerlaw:MxK:MEAN:ALPHA[:max=65536]",
           .summary = "row lengths with a tail of exponent ALPHA",
           .sizes = matrix,
           .numbers = {real("MEAN", 1, many),
                       {.name = "ALPHA", .least = 1, .most = 100, .may_be_least = false}},
           .options = {whole("max", 1, 1048576)},
           .flags = flags,
           .complete = complete_tabulated},
          {.name = "hypersparse",
           .form = "hypersparse:MxK:MEAN",
           .summary = "MEAN nonzeros a row, 0.3 say: most rows are empty",
           .sizes = matrix,
           .numbers = {real("MEAN", 0, many)},
           .flags = flags,
           .complete = complete_hypersparse},
          {.name = "wide",
           .form = "wide:MxK:MEAN",
           .summary = "few rows, many columns; lengths between 2/3 and 4/3 of MEAN",
           .sizes = matrix,
           .numbers = {real("MEAN", 0, many)},
           .flags = flags,
           .complete = complete_wide},
          {.name = "banded",
           .form = "banded:N:H",
           .summary = "all entries within H of the diagonal",
           .sizes = {.most = 1},
           .numbers = {whole("H", 0, many)},
           .flags = flags,
           .complete = complete_banded}};
}

std::vector<GeneratorEntry> uneven_ones() {
  std::vector<std::string_view> const flags{"seed", "symmetric", "values"},
      always{"seed", "values"};
  return {{.name = "lognormal",
           .form = "lognormal:MxK:MEAN:SIGMA[:max=65536]",
           .summary = "row lengths with a lognormal distribution, as of a pruned layer",
           .sizes = matrix,
           .numbers = {real("MEAN", 1, many),
                       {.name = "SIGMA", .least = 0, .most = 4, .may_be_least = false}},
           .options = {whole("max", 1, 1048576)},
           .flags = flags,
           .complete = complete_tabulated},
          {.name = "wells",
           .form = "wells:NXxNYxNZ:UNKNOWNS,LONG,LENGTH",
           .summary = "7-point grid, UNKNOWNS a point; LONG rows have LENGTH columns more",
           .sizes = cube,
           .numbers = {whole("UNKNOWNS", 1, 64), whole("LONG", 0, many), whole("LENGTH", 0, many)},
           .flags = flags,
           .complete = complete_wells},
          {.name = "circuit",
           .form = "circuit:N:MEAN,LONG,LENGTH",
           .summary = "MEAN columns a row, most of them near; LONG rows have LENGTH more",
           .sizes = {.most = 1},
           .numbers = {whole("MEAN", 0, 16), whole("LONG", 0, many), whole("LENGTH", 0, many)},
           .flags = flags,
           .complete = complete_circuit},
          {.name = "attachment",
           .form = "attachment:N:M",
           .summary = "graph that grew by preferential attachment, M edges a vertex; symmetric",
           .sizes = {.most = 1},
           .numbers = {whole("M", 1, 32)},
           .flags = always,
           .complete = complete_attachment},
          {.name = "patches",
           .form = "patches:N:PARTS",
           .summary = "PARTS parts of the rows, each of a drawn kind: a fuzz of patterns",
           .sizes = {.most = 1},
           .numbers = {whole("PARTS", 1, many)},
           .flags = flags,
           .complete = complete_patches},
          {.name = "saddle",
           .form = "saddle:N:M",
           .summary = "[D B^T; B 0]: N rows tridiagonal, M rows of six columns; symmetric",
           .sizes = {.most = 1, .least_size = 6},
           .numbers = {whole("M", 0, many)},
           .flags = always,
           .complete = complete_saddle}};
}

}  // namespace

std::span<GeneratorEntry const> generator_table() {
  static std::vector<GeneratorEntry> const table = [] {
    std::vector<GeneratorEntry> all = grids();
    for (auto const& more : {bodies(), models(), random_ones(), uneven_ones()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

}  // namespace blockspan::sparse
