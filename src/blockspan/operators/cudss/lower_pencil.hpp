#pragma once

#include <vector>

#include <blockspan/operators/factors/direct_factors.hpp>

namespace blockspan::operators::cudss {

/// The lower triangles of S K S and S M S on the union of their patterns and the diagonal, in
/// compressed rows with ascending columns; `parts` reals a value.
struct LowerPencil {
  std::vector<int> offsets, columns;
  std::vector<double> k, m;
};

/// M: null for the identity. Repeated entries are added up. Throws Error for 2^31 entries and more.
LowerPencil lower_pencil(HostHermitian const& K, HostHermitian const* M,
                         std::vector<double> const& scaling);

}  // namespace blockspan::operators::cudss
