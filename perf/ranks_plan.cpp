// What many ranks would exchange in a product, without them: one process has the matrix and plays
// all ranks. For slabs (rows as distribute cuts them) and, where the rows have places in space, for
// bricks: rows, nonzeros, halo rows, neighbours and bytes of the ranks. Nothing is multiplied.
//
//   blockspan-perf-ranks-plan [--quick] [--out DIR] [--commit C] [--ranks 64,256] [SPEC ...]
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/sparse/coordinates.hpp>
#include <blockspan/sparse/generators.hpp>

#include "common/files/output_file.hpp"
#include "common/run/application.hpp"
#include "common/run/command_line.hpp"
#include "studies/studies.hpp"
#include "suite/environment.hpp"

namespace {

namespace apps = blockspan::apps;
namespace perf = blockspan::perf;
using apps::Json;
using Exec = Kokkos::DefaultHostExecutionSpace;
using Matrix = blockspan::CrsMatrix<double, Exec>;
using Point = std::array<double, 3>;

struct Command {
  bool quick = false;
  int columns = 8;
  std::vector<int> ranks{64, 256, 1024};
  std::string out = "perf-results", commit;
  std::vector<std::string> specs;
};

/// A matrix of any backend: a build need not have those of hosts.
template <class Generated>
Matrix on_host(Generated const& A) {
  auto const host = [](auto const& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  return Matrix("A", A.numRows(), A.numCols(), A.nnz(), host(A.values), host(A.graph.row_map),
                host(A.graph.entries));
}

/// Where each row is; none where that is not known.
std::vector<Point> places(Exec const& exec, blockspan::GeneratorSpec const& spec) {
  std::vector<Point> result;
  bool const grid = spec.name.starts_with("laplace") && !spec.permuted;
  bool const mesh = spec.name.starts_with("elasticity") || spec.name.starts_with("p1");
  if (grid) {
    std::int64_t const x = spec.sizes[0], y = spec.sizes[1];
    for (std::int64_t i = 0; i < spec.rows; ++i)
      result.push_back({static_cast<double>(i % x), static_cast<double>(i / x % y),
                        static_cast<double>(i / (x * y))});
  } else if (mesh && !spec.permuted) {
    auto const nodes = blockspan::generate_coordinates<double>(exec, spec);
    auto const each = spec.rows / static_cast<std::int64_t>(nodes.extent(0));
    for (std::int64_t i = 0; i < spec.rows; ++i) {
      auto const node = static_cast<std::size_t>(i / each);
      result.push_back({nodes(node, 0), nodes(node, 1), nodes(node, 2)});
    }
  }
  return result;
}

std::vector<int> slabs(Matrix const& A, int ranks) {
  auto const partition = blockspan::distributed::partition_by_entries<Exec>(A.graph.row_map.data(),
                                                                            A.numRows(), ranks);
  std::vector<int> owner;
  for (int r = 0; r < ranks; ++r)
    owner.insert(owner.end(), static_cast<std::size_t>(partition.rows(r)), r);
  return owner;
}

/// Three factors of a number, as equal as they get.
std::array<int, 3> factors(int number) {
  std::array<int, 3> best{number, 1, 1};
  for (int a = 1; a <= number; ++a)
    for (int b = 1; number % a == 0 && b <= number / a; ++b)
      if (number / a % b == 0 &&
          std::max({a, b, number / a / b}) < *std::max_element(best.begin(), best.end()))
        best = {a, b, number / a / b};
  return best;
}

/// Equal parts along z, each of these along y, and these along x. Rows at one place stay together.
std::vector<int> bricks(std::vector<Point> const& at, int ranks) {
  auto const parts = factors(ranks);
  std::vector<int> owner(at.size(), 0);
  for (std::size_t axis = 3; axis-- > 0;) {
    std::vector<std::size_t> order(at.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
      return std::pair(owner[i], at[i][axis]) < std::pair(owner[j], at[j][axis]);
    });
    std::size_t begin = 0;
    std::vector<int> next(at.size());
    while (begin < order.size()) {
      std::size_t end = begin;
      while (end < order.size() && owner[order[end]] == owner[order[begin]]) ++end;
      for (std::size_t k = begin, last = 0; k < end; ++k) {
        auto const part = (k - begin) * static_cast<std::size_t>(parts[axis]) / (end - begin);
        // a plane of points is not cut: it goes where its first point goes
        bool const same = k > begin && at[order[k]][axis] == at[order[k - 1]][axis];
        if (!same) last = part;
        next[order[k]] = owner[order[begin]] * parts[axis] + static_cast<int>(last);
      }
      begin = end;
    }
    owner = next;
  }
  return owner;
}

struct Spread {
  std::int64_t largest = 0;
  double mean = 0;
};
Spread spread(std::vector<std::int64_t> const& counts) {
  Spread result;
  for (std::int64_t const count : counts) {
    result.largest = std::max(result.largest, count);
    result.mean += static_cast<double>(count) / static_cast<double>(counts.size());
  }
  return result;
}

/// What ranks with these rows would have, and receive in a product of so many columns.
Json plan(Matrix const& A, std::vector<int> const& owner, int ranks, int columns) {
  auto const size = static_cast<std::size_t>(ranks);
  std::vector<std::int64_t> rows(size), nonzeros(size), halo(size), neighbours(size);
  std::vector<std::pair<int, int>> ghosts, pairs;  // (rank, row of another), (rank, its owner)
  for (int i = 0; i < A.numRows(); ++i) {
    int const me = owner[static_cast<std::size_t>(i)];
    ++rows[static_cast<std::size_t>(me)];
    for (int k = A.graph.row_map(i); k < A.graph.row_map(i + 1); ++k) {
      ++nonzeros[static_cast<std::size_t>(me)];
      int const column = A.graph.entries(k);
      if (owner[static_cast<std::size_t>(column)] != me) ghosts.emplace_back(me, column);
    }
  }
  auto const unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  unique(ghosts);
  for (auto const& [rank, row] : ghosts) {
    ++halo[static_cast<std::size_t>(rank)];
    pairs.emplace_back(rank, owner[static_cast<std::size_t>(row)]);
  }
  unique(pairs);
  for (auto const& pair : pairs) ++neighbours[static_cast<std::size_t>(pair.first)];
  auto const r = spread(rows), z = spread(nonzeros), h = spread(halo), n = spread(neighbours);
  auto const imbalance = [](Spread const& s) {
    return s.mean > 0 ? static_cast<double>(s.largest) / s.mean : 1.0;
  };
  return {{"rows", imbalance(r)},
          {"nonzeros", imbalance(z)},
          {"halo", h.largest},
          {"halo_mean", h.mean},
          {"neighbours", n.largest},
          {"neighbours_mean", n.mean},
          {"megabytes", static_cast<double>(h.largest) * columns * sizeof(double) * 1e-6}};
}

/// The cases of a matrix, one a number of ranks.
void add_cases(Exec const& exec, std::string const& text, Command const& command, Json& cases) {
  auto const spec = blockspan::parse_generator_spec(text);
  blockspan::require(spec.rows == spec.columns, text, "the matrix is not square");
  auto const A = on_host(blockspan::generate<double>(Kokkos::DefaultExecutionSpace(), spec));
  auto const at = places(exec, spec);
  for (int const ranks : command.ranks) {
    Json entry{{"group", text},
               {"matrix", text},
               {"scalar", "f64"},
               {"columns", command.columns},
               {"ranks", ranks},
               {"rows", A.numRows()},
               {"nonzeros", A.nnz()},
               {"rows_a_rank", static_cast<double>(A.numRows()) / ranks},
               {"slabs", plan(A, slabs(A, ranks), ranks, command.columns)}};
    if (!at.empty()) entry["bricks"] = plan(A, bricks(at, ranks), ranks, command.columns);
    cases.push_back(entry);
  }
}

std::optional<Command> parse(int argc, char** argv) {
  Command command;
  CLI::App app;
  apps::set_up(app, "blockspan-perf-ranks-plan",
               "What many ranks would exchange in a product; writes DIR/ranks_plan.json.");
  app.add_option("SPEC", command.specs, "Matrices")->default_str("a grid, a structure, a graph");
  app.add_option("--ranks", command.ranks, "Numbers of ranks, with commas in between")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--columns", command.columns, "Of the block")->check(CLI::PositiveNumber);
  app.add_flag("--quick", command.quick, "Small matrices");
  app.add_option("--out", command.out, "Folder of the results");
  app.add_option("--commit", command.commit, "Of Blockspan, for the record");
  if (!apps::parse(app, argc, argv)) return std::nullopt;
  if (command.specs.empty())
    command.specs = command.quick
                        ? std::vector<std::string>{"laplace7:32", "elasticity:12", "rmat:12:8"}
                        : std::vector<std::string>{"laplace7:96", "elasticity:40", "rmat:17:8",
                                                   "rmat:17:8:permute"};
  return command;
}

int run(Command const& command) {
  apps::KokkosSession const kokkos;
  Json document = perf::begin_results(Kokkos::DefaultExecutionSpace(), perf::ranks_plan(),
                                      command.commit, command.quick);
  Json cases = Json::array();
  for (auto const& spec : command.specs) add_cases(Exec(), spec, command, cases);
  document["cases"] = cases;
  std::filesystem::create_directories(command.out);
  apps::OutputFile("--out", command.out + "/ranks_plan.json", true)
      .write_or_fail(apps::to_text(document));
  return apps::success;
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_application("blockspan-perf-ranks-plan", [&] {
    auto const command = parse(argc, argv);
    return command ? run(*command) : apps::success;
  });
}
