#include <limits>

#include <blockspan/communication/mpi.hpp>
#include <blockspan/distributed/scotch.hpp>
#include <blockspan/support/error.hpp>

#include <ptscotch.h>

namespace blockspan {

namespace {

/// PT-Scotch's calls are collective: ranks agree on the status of each call before the next.
void check(Communicator const& ranks, int status, char const* call) {
  ranks.run_agreed([&] {
    require(status == 0, "scotch_parts", call, " of PT-Scotch failed with status ", status);
  });
}

/// A graph bound to a context of one thread: threads of PT-Scotch would call MPI concurrently,
/// which MPI_THREAD_FUNNELED forbids.
struct Graph {
  SCOTCH_Context context;
  SCOTCH_Dgraph given, graph;
  SCOTCH_Strat strategy;

  Graph(Communicator const& ranks, MPI_Comm comm) {
    SCOTCH_contextInit(&context);
    SCOTCH_contextOptionSetNum(&context, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextThreadSpawn(&context, 1, nullptr);
    SCOTCH_stratInit(&strategy);
    check(ranks, SCOTCH_dgraphInit(&given, comm), "SCOTCH_dgraphInit");
    check(ranks, SCOTCH_dgraphInit(&graph, comm), "SCOTCH_dgraphInit");
  }
  ~Graph() {
    SCOTCH_dgraphExit(&graph);
    SCOTCH_dgraphExit(&given);
    SCOTCH_stratExit(&strategy);
    SCOTCH_contextExit(&context);
  }
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;
};

}  // namespace

std::vector<int> scotch_parts(Communicator const& ranks, RowPartition const& from,
                              RowPattern const& pattern) {
  constexpr auto where = "scotch_parts";
  constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<SCOTCH_Num>::max());
  distributed::require_pattern(where, ranks, from, pattern);
  std::int64_t const n = pattern.rows(), first = from.first(ranks.rank());
  if (ranks.size() == 1) return std::vector<int>(static_cast<std::size_t>(n), 0);
  auto const entries = ranks.sum(static_cast<std::int64_t>(pattern.columns.size()));
  std::vector<SCOTCH_Num> starts = {0}, weights, neighbours;
  // a null pointer would mean that no rank has any
  weights.reserve(static_cast<std::size_t>(n) + 1);
  neighbours.reserve(pattern.columns.size() + 1);
  ranks.run_agreed([&] {
    require(from.global_rows() <= most && entries <= most, where, from.global_rows(), " rows and ",
            entries, " entries are more than the integers of this PT-Scotch allow");
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t const column : pattern.row(i))
        if (column != first + i) neighbours.push_back(static_cast<SCOTCH_Num>(column));
      starts.push_back(static_cast<SCOTCH_Num>(neighbours.size()));
      weights.push_back(static_cast<SCOTCH_Num>(pattern.row(i).size()) + 1);
    }
  });
  auto const rows = static_cast<SCOTCH_Num>(n), edges = static_cast<SCOTCH_Num>(neighbours.size());
  std::vector<SCOTCH_Num> part(static_cast<std::size_t>(n) + 1, 0);
  Graph scotch(ranks, mpi_comm_of(ranks));
  SCOTCH_randomReset();
  check(ranks,
        SCOTCH_dgraphBuild(&scotch.given, 0, rows, rows, starts.data(), starts.data() + 1,
                           weights.data(), nullptr, edges, edges, neighbours.data(), nullptr,
                           nullptr),
        "SCOTCH_dgraphBuild");
  check(ranks, SCOTCH_dgraphCheck(&scotch.given),
        "the pattern is not symmetric: SCOTCH_dgraphCheck");
  check(ranks, SCOTCH_contextBindDgraph(&scotch.context, &scotch.given, &scotch.graph),
        "SCOTCH_contextBindDgraph");
  check(ranks,
        SCOTCH_dgraphPart(&scotch.graph, static_cast<SCOTCH_Num>(ranks.size()), &scotch.strategy,
                          part.data()),
        "SCOTCH_dgraphPart");
  return {part.begin(), part.begin() + n};
}

}  // namespace blockspan
