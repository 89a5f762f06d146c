#include "solvers/peers.hpp"

#include <filesystem>
#include <fstream>

#include "common/machine/dispatch.hpp"

namespace blockspan::perf {

namespace {

namespace fs = std::filesystem;

/// The elements of a contiguous view as they lie in memory.
template <class View>
void write_raw(std::string const& path, View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<char const*>(host.data()),
             static_cast<std::streamsize>(host.size() * sizeof(*host.data())));
  file.flush();
  require(file.good(), path, "writing failed");
}

SolverBlock read_raw(Exec const& exec, std::string const& path, std::size_t rows,
                     std::size_t columns) {
  SolverBlock const X(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::perf::X"),
                      rows, columns);
  auto const host = Kokkos::create_mirror_view(X);
  auto const bytes = rows * columns * sizeof(double);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(host.data()), static_cast<std::streamsize>(bytes));
  require(static_cast<std::size_t>(file.gcount()) == bytes, path, "is too short");
  Kokkos::deep_copy(exec, X, host);
  exec.fence("Blockspan::perf::read_raw");
  return X;
}

}  // namespace

std::vector<std::string> peer_names() {
  return {"scipy",         "cupy",   "torch",          "slepc", "petsc",
          "slepc_default", "primme", "primme_default", "pyamg", "hypre"};
}

PeerProblem::PeerProblem(SolverProblem const& problem, Scripts const& scripts, int solves)
    : problem_(problem), scripts_(scripts), folder_(scripts.out + "/.problem") {
  fs::create_directories(folder_);
  auto const& A = problem.A;
  bool const pairs = problem.task == Task::eigenpairs;
  write_raw(folder_ + "/offsets", A.graph.row_map);
  write_raw(folder_ + "/indices", A.graph.entries);
  write_raw(folder_ + "/values", A.values);
  write_raw(folder_ + "/block", pairs ? problem.start : problem.rhs);
  if (problem.coordinates.extent(0) > 0) write_raw(folder_ + "/coordinates", problem.coordinates);
  Json const request{{"task", pairs ? "eigenpairs" : "linear_systems"},
                     {"rows", problem.rows()},
                     {"nonzeros", A.nnz()},
                     {"columns", problem.columns},
                     {"block_columns", (pairs ? problem.start : problem.rhs).extent(1)},
                     {"tolerance", problem.tolerance},
                     {"norm_a", problem.norm_a},
                     {"max_iterations", problem.max_iterations},
                     {"solves", solves},
                     {"device", apps::backend_name<Exec>() == "cuda" ? "cuda" : "cpu"}};
  std::string const path = folder_ + "/request.json";
  std::ofstream file(path);
  file << request.dump(1) << std::endl;
  require(file.good(), path, "writing failed");
}

PeerProblem::~PeerProblem() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Answer PeerProblem::solve(std::string const& peer, double seconds) const {
  fs::remove(folder_ + "/answer.json");
  ScriptOutcome const outcome =
      run_script(scripts_, "solve.py", {peer, folder_}, folder_ + "/log", seconds);
  if (outcome.status == script_took_too_long) throw TookTooLong(peer + ": " + outcome.last_line);
  require(outcome.status == 0, peer, outcome.last_line);
  return read_answer(peer);
}

Answer PeerProblem::read_answer(std::string const& peer) const {
  Answer answer;
  try {
    std::ifstream file(folder_ + "/answer.json");
    Json const json = Json::parse(file);
    answer.iterations = json.at("iterations").get<int>();
    answer.setup_ms = 1e3 * json.at("setup_seconds").get<double>();
    for (Json const& seconds : json.at("seconds")) answer.ms.push_back(1e3 * seconds.get<double>());
    for (Json const& value : json.at("eigenvalues"))
      answer.eigenvalues.push_back(value.get<double>());
    answer.more = json.at("more");
  } catch (Json::exception const& error) {
    fail(peer, "its answer cannot be read: ", error.what());
  }
  auto const columns = static_cast<std::size_t>(problem_.columns);
  require(!answer.ms.empty(), peer, "tells no time");
  require(problem_.task != Task::eigenpairs || answer.eigenvalues.size() == columns, peer, "gives ",
          answer.eigenvalues.size(), " eigenvalues of ", columns);
  answer.X = read_raw(problem_.exec, folder_ + "/solution",
                      static_cast<std::size_t>(problem_.rows()), columns);
  return answer;
}

}  // namespace blockspan::perf
