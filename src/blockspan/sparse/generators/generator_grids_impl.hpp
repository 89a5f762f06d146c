#pragma once

#include <blockspan/sparse/generators/generator_elasticity.hpp>
#include <blockspan/sparse/generators/generator_p1.hpp>
#include <blockspan/sparse/generators/generator_rows.hpp>

// Patterns of stencils on grids, by the name of the spec.

namespace blockspan::sparse {

template <class Exec>
GeneratedPattern<Exec> generate_grid(Exec const& exec, GeneratorSpec const& spec,
                                     NonzeroLimit const& limit) {
  Grid const grid{int(spec.sizes[0]), int(spec.sizes[1]),
                  spec.sizes.size() > 2 ? int(spec.sizes[2]) : 1};
  auto const assemble = [&](auto const& rule) {
    return assemble_rows(exec, "Blockspan::generate::grid", spec.rows, spec.columns, rule, limit);
  };
  if (spec.name == "laplace27") return assemble(TwentySevenPointRule{grid});
  if (spec.name == "jump7") {
    double const contrast = spec.numbers[0];
    double const harmonic = 2 / (1 / contrast + 1);
    return assemble(SevenPointRule<JumpCoefficients>{
        grid, {{1, harmonic, contrast}, int(spec.options.at("width")), spec.seed}});
  }
  ConstantCoefficients coefficients{{1, 1, 1}, spec.name == "laplace5" ? 4.0 : 6.0};
  if (spec.name == "aniso7") {
    auto const& epsilon = spec.numbers;
    coefficients = {{epsilon[0], epsilon[1], epsilon[2]},
                    2 * (epsilon[0] + epsilon[1] + epsilon[2])};
  }
  return assemble(SevenPointRule<ConstantCoefficients>{grid, coefficients});
}

template <class Exec>
GeneratedPattern<Exec> generate_elasticity(Exec const& exec, GeneratorSpec const& spec,
                                           NonzeroLimit const& limit) {
  int const n = static_cast<int>(spec.sizes[0]);
  double const edges = n - 1;
  ElasticGrid const grid{n, spec.clamped ? 1 : 0};
  if (spec.name.starts_with("p1")) {
    bool const mass = spec.name == "p1-mass";
    double const units = 16 * edges;
    return assemble_rows(
        exec, "Blockspan::generate::p1", spec.rows, spec.columns,
        P1Rule{{grid, spec.seed}, mass, mass ? 120 * units * units * units : 6 * units}, limit);
  }
  if (spec.name == "elasticity-mass")
    return assemble_rows(exec, "Blockspan::generate::elasticity_mass", spec.rows, spec.columns,
                         ElasticityMassRule{grid, 216 * edges * edges * edges}, limit);
  return assemble_rows(exec, "Blockspan::generate::elasticity", spec.rows, spec.columns,
                       ElasticityRule{grid, 26 * 72 * edges}, limit);
}

}  // namespace blockspan::sparse
