#include <blockspan/sparse/detail/generator_complete.hpp>
#include <blockspan/sparse/detail/generator_table.hpp>

namespace blockspan::detail {
namespace {

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
           .complete = complete_powerlaw},
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

}  // namespace

std::span<GeneratorEntry const> generator_table() {
  static std::vector<GeneratorEntry> const table = [] {
    std::vector<GeneratorEntry> all = grids();
    for (auto const& more : {bodies(), random_ones()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

}  // namespace blockspan::detail
