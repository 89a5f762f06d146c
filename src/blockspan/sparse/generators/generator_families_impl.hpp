#pragma once

#include <blockspan/sparse/generators/generator_families.hpp>
#include <blockspan/sparse/generators/generator_rows.hpp>

namespace blockspan::sparse {

/// The weights of central differences of order 2 reach for minus the second derivative; the
/// diagonal is the sum over three axes. Only products and quotients of integers, and sums of
/// results: no expression that a compiler could contract to a fused multiply-add.
inline StarRule star_rule(Grid const& grid, int reach) {
  StarRule rule{grid, reach, {}};
  double weight = -2.0 * reach / (reach + 1);
  double sum = 0;
  for (int d = 1; d <= reach; ++d) {
    rule.weight[d] = weight;
    sum += weight;
    weight = weight * (-d * d * (reach - d)) / ((d + 1) * (d + 1) * (reach + d + 1));
  }
  rule.weight[0] = -6 * sum;
  return rule;
}

template <class Exec>
GeneratedPattern<Exec> generate_family(Exec const& exec, GeneratorSpec const& spec,
                                       NonzeroLimit const& limit) {
  auto const assemble = [&](auto const& rule) {
    return assemble_rows(exec, "Blockspan::generate::family", spec.rows, spec.columns, rule, limit);
  };
  auto const number = [&](std::size_t which) { return static_cast<int>(spec.numbers[which]); };
  auto const grid = [&] {
    return Grid{int(spec.sizes[0]), int(spec.sizes[1]), int(spec.sizes[2])};
  };
  auto const long_rows = [&] { return LongRows{spec.rows, number(1), number(2), spec.seed}; };
  if (spec.name == "star") return assemble(star_rule(grid(), number(0)));
  if (spec.name == "spins") return assemble(SpinRule{int(spec.sizes[0])});
  if (spec.name == "queues") return assemble(QueueRule{spec.sizes[0]});
  if (spec.name == "wells")
    return assemble(
        VisitedRowsRule<WithLongRows<ReservoirRows>>{{{grid(), number(0)}, long_rows()}});
  if (spec.name == "circuit")
    return assemble(VisitedRowsRule<WithLongRows<CircuitRows>>{
        {{spec.rows, number(0), spec.seed}, long_rows()}});
  if (spec.name == "attachment")
    return assemble(ShortRowsRule<AttachmentRows>{{number(0), spec.seed}});
  if (spec.name == "patches")
    return assemble(VisitedRowsRule<PatchRows>{{spec.rows, std::int64_t{number(0)}, spec.seed}});
  return assemble(ShortRowsRule<SaddleRows>{{spec.sizes[0], spec.seed}});
}

}  // namespace blockspan::sparse
