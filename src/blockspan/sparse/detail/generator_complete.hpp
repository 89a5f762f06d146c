#pragma once

#include <blockspan/sparse/generator_spec.hpp>

// What follows from the sizes and numbers of a parsed spec: rows, columns, nonzeros where they do
// not depend on the seed, symmetry and definiteness; and the checks of numbers against each other.
// Each throws Error.

namespace blockspan::detail {

void complete_star(GeneratorSpec& spec);  ///< grids of 5 and 7 points
void complete_box(GeneratorSpec& spec);   ///< grids of 27 points
void complete_elasticity(GeneratorSpec& spec);
void complete_p1(GeneratorSpec& spec);
void complete_rmat(GeneratorSpec& spec);
void complete_uniform(GeneratorSpec& spec);
void complete_wide(GeneratorSpec& spec);
void complete_fixed(GeneratorSpec& spec);
void complete_hypersparse(GeneratorSpec& spec);
void complete_powerlaw(GeneratorSpec& spec);
void complete_banded(GeneratorSpec& spec);

}  // namespace blockspan::detail
