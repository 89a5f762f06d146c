#include "common/ranks/row_orders.hpp"

#include <array>

#include <blockspan/distributed/metis.hpp>
#include <blockspan/distributed/scotch.hpp>
#include <blockspan/sparse/generators.hpp>
#include <blockspan/support/error.hpp>

#include "common/machine/components.hpp"

namespace blockspan::apps {

namespace {

struct Grid {
  std::array<std::int64_t, 3> points{1, 1, 1};  ///< x fastest
  int unknowns = 1;
};

Grid grid_of(std::string const& source) {
  constexpr auto where = "--partition bricks";
  require(is_generator_spec(source), where, source,
          " is a file: bricks are for grids (laplace5, laplace7, ..., elasticity, p1)");
  auto const spec = parse_generator_spec(source);
  bool const mesh = spec.name.starts_with("elasticity") || spec.name.starts_with("p1");
  require((mesh || spec.name.starts_with("laplace")) && !spec.permuted, where, source,
          " is no grid (laplace5, laplace7, ..., elasticity, p1)");
  Grid grid;
  for (std::size_t axis = 0; axis < spec.sizes.size() && axis < 3; ++axis)
    grid.points[axis] = spec.sizes[axis];
  if (mesh) {
    std::int64_t const n = spec.sizes[0];
    grid.points = {spec.clamped ? n - 1 : n, n, n};
    grid.unknowns = spec.name.starts_with("elasticity") ? 3 : 1;
  }
  std::int64_t const rows = grid.points[0] * grid.points[1] * grid.points[2] * grid.unknowns;
  require(rows == spec.rows, where, source, " has ", spec.rows, " rows, not one for each unknown");
  return grid;
}

}  // namespace

std::shared_ptr<RowOrder const> order_rows(Communicator const& ranks, std::string const& partition,
                                           std::string const& source, RowPartition const& from,
                                           RowPattern const& pattern, std::int64_t chunk) {
  auto const kept = [](RowOrder order) {
    return std::make_shared<RowOrder const>(std::move(order));
  };
  if (partition == "rcm") return kept(order_by_cuthill_mckee(ranks, from, pattern, chunk));
  auto const parts = [&]() -> std::vector<int> {
    auto const option = "--partition " + partition;
    if (partition == "bricks") {
      auto const grid = ranks.run_agreed([&] { return grid_of(source); });
      return brick_parts(grid.points, grid.unknowns, from.first(ranks.rank()),
                         from.last(ranks.rank()), ranks.size());
    }
    if (partition == "metis") {
      if constexpr (has_metis) return metis_parts(ranks, from, pattern);
      fail(option, left_out("metis", "apt-get install libmetis-dev, then "));
    }
    if constexpr (has_scotch) return scotch_parts(ranks, from, pattern);
    fail(option, left_out("scotch", "apt-get install libptscotch-dev, then "));
  }();
  return kept(order_by_parts(ranks, from, pattern, parts));
}

}  // namespace blockspan::apps
