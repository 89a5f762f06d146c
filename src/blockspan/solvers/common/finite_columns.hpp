#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <blockspan/blocks/column_terms.hpp>
#include <blockspan/solvers/common/problem.hpp>
#include <blockspan/support/error.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::solvers {

/// Throws Error, on all ranks, where a column of X that is `asked` for (empty: all) has NaN or Inf,
/// and names the first such entry of the first such column, from 0. what: X in words. All ranks
/// call it together. One pass over X. Fences the instance.
template <class Scalar, class Exec>
void require_finite(SolverProblem<Scalar, Exec>& problem, char const* where, char const* what,
                    BlockRef<Scalar const> const& X, std::vector<bool> const& asked = {}) {
  if (X.columns == 0) return;
  auto const largest =
      problem.fold("Blockspan::solvers::largest", LargestTerms<Scalar>{X}, X.columns);
  for (std::size_t j = 0; j < largest.size(); ++j) {
    if (std::isfinite(largest[j]) || (!asked.empty() && !asked[j])) continue;
    auto const column = problem.new_block("Blockspan::solvers::column", 1);
    problem.select_scaled(X, {static_cast<int>(j)}, {}, column);
    problem.exec.fence("Blockspan::solvers::require_finite");
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), column);
    constexpr auto none = std::numeric_limits<std::int64_t>::max();
    std::int64_t first = none;
    bool nan = false;
    for (std::int64_t i = 0; first == none && i < problem.rows(); ++i) {
      Scalar const x = host(i, 0);
      nan = std::isnan(real_part(x)) || std::isnan(imaginary_part(x));
      if (nan || std::isinf(real_part(x)) || std::isinf(imaginary_part(x)))
        first = problem.workspace.rows().first_row() + i;
    }
    auto const row = problem.ranks().least(first);
    bool const is_nan = problem.ranks().any(first == row && nan);
    problem.ranks().run_agreed([&] {
      fail(where, "row ", row, ", column ", j, " of ", what, " (both from 0) is ",
           is_nan ? "NaN" : "infinite");
    });
  }
}

}  // namespace blockspan::solvers
