#include <blockspan/distributed/distribute.hpp>
#include <blockspan/distributed/levels/whole_graph.hpp>
#include <blockspan/distributed/metis.hpp>
#include <blockspan/support/error.hpp>

#include <metis.h>

namespace blockspan {

namespace {

std::vector<int> parts_of_graph(distributed::WholePattern const& whole, int ranks) {
  constexpr auto where = "metis_parts";
  auto const graph = distributed::whole_graph(whole);
  auto vertices = static_cast<idx_t>(graph.vertices()), balanced = idx_t{1},
       parts = static_cast<idx_t>(ranks);
  std::vector<int> result(graph.vertices(), 0);
  if (vertices == 0 || parts == 1) return result;
  std::vector<idx_t> starts(graph.offsets.begin(), graph.offsets.end()),
      neighbours(graph.indices.begin(), graph.indices.end()), weights, part(graph.vertices());
  for (std::size_t i = 0; i + 1 < whole.offsets.size(); ++i)
    weights.push_back(static_cast<idx_t>(whole.offsets[i + 1] - whole.offsets[i] + 1));
  idx_t options[METIS_NOPTIONS], cut = 0;
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  // its manual recommends recursive bisection for few parts
  auto const partition = ranks <= 8 ? &METIS_PartGraphRecursive : &METIS_PartGraphKway;
  int const status =
      partition(&vertices, &balanced, starts.data(), neighbours.data(), weights.data(), nullptr,
                nullptr, &parts, nullptr, nullptr, options, &cut, part.data());
  require(status != METIS_ERROR_MEMORY, where, "METIS has no memory for ", vertices, " rows");
  require(status == METIS_OK, where, "METIS failed with status ", status);
  result.assign(part.begin(), part.end());
  return result;
}

}  // namespace

std::vector<int> metis_parts(Communicator const& ranks, RowPartition const& from,
                             RowPattern const& pattern) {
  auto const whole = distributed::collect_pattern(ranks, from, pattern);
  auto const parts = ranks.run_agreed(
      [&] { return ranks.rank() == 0 ? parts_of_graph(whole, ranks.size()) : std::vector<int>(); });
  return distributed::deal<int>(ranks, 0, pattern.rows(), [&](int r) {
    return std::vector<int>(parts.begin() + from.first(r), parts.begin() + from.last(r));
  });
}

}  // namespace blockspan
