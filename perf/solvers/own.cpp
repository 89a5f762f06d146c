#include "solvers/own.hpp"

#include <functional>
#include <utility>

#include <Kokkos_Timer.hpp>

#include <blockspan/distributed/distribute.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/solvers/lobpcg.hpp>

#include "common/problem/preconditioner.hpp"
#include "common/problem/products.hpp"

namespace blockspan::perf {

namespace {

constexpr int most_solves = 20;
constexpr double enough_ms = 500;

using Op = LinearOperator<double, Exec>;

/// Milliseconds of solves; the first two calls of `solve(bool phases)` are not among them.
std::vector<double> time_solves(std::function<void(bool)> const& solve, int solves) {
  solve(false);
  solve(true);
  std::vector<double> ms;
  double total = 0;
  auto const count = [&] { return static_cast<int>(ms.size()); };
  while (count() < solves || (solves > 1 && count() < most_solves && total < enough_ms)) {
    Kokkos::Timer const timer;
    solve(false);
    ms.push_back(1e3 * timer.seconds());
    total += ms.back();
  }
  return ms;
}

SolverBlock new_block(SolverProblem const& problem, std::size_t columns) {
  return SolverBlock(
      Kokkos::view_alloc(problem.exec, Kokkos::WithoutInitializing, "Blockspan::perf::X"),
      static_cast<std::size_t>(problem.rows()), columns);
}

/// Milliseconds that an iteration takes where it streams A and B once and `passes` blocks.
double floor_ms(SolverProblem const& problem, double passes, double columns,
                double bytes_per_second) {
  auto const n = static_cast<double>(problem.rows());
  auto const bytes_of = [&](CrsMatrix<double, Exec> const& matrix) {
    return static_cast<double>(matrix.nnz()) * (sizeof(double) + sizeof(int)) +
           (n + 1) * sizeof(int);
  };
  double const matrices = bytes_of(problem.A) + (problem.B ? bytes_of(*problem.B) : 0);
  return 1e3 * (matrices + passes * n * columns * sizeof(double)) / bytes_per_second;
}

/// Milliseconds an iteration of each phase.
Json phases(int iterations, std::vector<std::pair<char const*, double>> const& seconds) {
  Json json = Json::object();
  for (auto const& [name, value] : seconds)
    json[name] = iterations > 0 ? 1e3 * value / iterations : 0.0;
  return json;
}

/// B: null but for a pencil.
Answer eigenpairs(SolverProblem& problem, Op const& A, Op const* B, Op const& T, int solves,
                  double bytes_per_second) {
  Answer answer;
  SolverBlock const X = new_block(problem, problem.start.extent(1));
  LobpcgOptions<double, Exec> options;
  // What the peers are asked for.
  options.path = SolvePath::iterative;
  options.criterion = Criterion::backward;
  options.wanted = problem.columns;
  options.tolerance = problem.tolerance;
  options.preconditioner = &T;
  options.max_iterations = problem.max_iterations;
  options.guess_columns = static_cast<int>(X.extent(1));
  LobpcgReport<double> report;
  LobpcgSeconds seconds;
  answer.ms = time_solves(
      [&](bool by_phase) {
        Kokkos::deep_copy(problem.exec, X, problem.start);
        options.time_phases = by_phase;
        report = B ? lobpcg(problem.exec, A, *B, X, options) : lobpcg(problem.exec, A, X, options);
        if (by_phase) seconds = report.seconds;
      },
      solves);
  problem.norm_a = report.norm_a;
  problem.norm_b = report.norm_b;
  answer.X = new_block(problem, static_cast<std::size_t>(problem.columns));
  Kokkos::deep_copy(problem.exec, answer.X,
                    Kokkos::subview(X, Kokkos::ALL, std::pair(0, problem.columns)));
  answer.eigenvalues = report.eigenvalues;
  answer.iterations = report.iterations;
  // what an iteration of LOBPCG moves in addition to A: see solvers/lobpcg.hpp
  answer.more = {
      {"status", to_string(report.status)},
      {"iteration_floor_ms",
       floor_ms(problem, B ? 30 : 20, static_cast<double>(X.extent(1)), bytes_per_second)},
      {"phases", phases(report.iterations, {{"product", seconds.operator_a + seconds.operator_b},
                                            {"preconditioner", seconds.preconditioner},
                                            {"gram", seconds.gram},
                                            {"update", seconds.update},
                                            {"dense", seconds.dense},
                                            {"residual", seconds.residual}})}};
  return answer;
}

CgMethod method_called(std::string const& name) {
  if (name == "block") return CgMethod::block;
  return name == "auto" ? CgMethod::automatic : CgMethod::pseudo_block;
}

Answer linear_systems(SolverProblem& problem, std::string const& method, Op const& A, Op const& M,
                      int solves, double bytes_per_second) {
  Answer answer;
  answer.X = new_block(problem, problem.rhs.extent(1));
  CgOptions<double, Exec> options;
  options.tolerance = problem.tolerance;
  options.preconditioner = &M;
  options.max_iterations = problem.max_iterations;
  options.method = method_called(method);
  options.single_reduction = method == "single-reduction";
  CgReport<double> report;
  CgSeconds seconds;
  answer.ms = time_solves(
      [&](bool by_phase) {
        options.time_phases = by_phase;
        report = solve_spd(problem.exec, A, problem.rhs, answer.X, options);
        if (by_phase) seconds = report.seconds;
      },
      solves);
  answer.iterations = report.iterations;
  // two passes of the product and those of the method: see solvers/conjugate_gradient.hpp
  double const passes = report.method == "pseudo_block" ? 12 : 15;
  answer.more = {
      {"status", to_string(report.status)},
      {"method", report.method},
      {"iteration_floor_ms",
       floor_ms(problem, passes, static_cast<double>(problem.columns), bytes_per_second)},
      {"phases", phases(report.iterations, {{"product", seconds.product},
                                            {"preconditioner", seconds.preconditioner},
                                            {"gram", seconds.gram},
                                            {"update", seconds.update},
                                            {"dense", seconds.dense},
                                            {"residual", seconds.verify}})}};
  return answer;
}

Preconditioner<double, Exec> hierarchy_of(SolverProblem const& problem, int columns) {
  MultigridOptions<double, Exec> options;
  options.coordinates = problem.coordinates;
  options.columns = columns;
  auto M = std::make_unique<Multigrid<double, Exec>>(problem.exec, problem.A, options);
  require(M->report().usable(), "multigrid", M->report().message);
  return {.op = std::move(M)};
}

}  // namespace

std::vector<OwnSolver> own_solvers(SolverProblem const& problem) {
  bool const pairs = problem.task == Task::eigenpairs;
  std::string const name = pairs ? "lobpcg" : "cg";
  std::vector<OwnSolver> solvers{{"auto", "blockspan", "auto", "blockspan"}};
  for (char const* const method : {"pseudo-block", "block"})
    if (!pairs && problem.columns > 1)
      solvers.push_back({method, "blockspan", method, "blockspan"});
  if (!pairs) solvers.push_back({"single-reduction", "blockspan", "single-reduction", "blockspan"});
  for (char const* const preconditioner : {"multigrid", "chebyshev:8", "jacobi"})
    solvers.push_back({preconditioner, "blockspan", "auto", "blockspan", preconditioner});
  // what the plan's choice among the kernels brings
  solvers.push_back({name + "/groups", "blockspan", "auto", "groups"});
  for (char const* const product : {"kokkos-kernels", "cusparse"})
    solvers.push_back({name + "/" + product, "other-products", "auto", product});
  return solvers;
}

Answer solve_by_own(SolverProblem& problem, OwnSolver const& solver, int solves,
                    double bytes_per_second) {
  Kokkos::Timer const timer;
  auto const width = problem.task == Task::eigenpairs ? problem.start.extent(1)
                                                      : static_cast<std::size_t>(problem.columns);
  Communicator const alone;
  auto const A = distribute(problem.exec, alone, problem.A);
  auto const product =
      apps::make_product<double>(problem.exec, A, solver.spmm, static_cast<int>(width));
  apps::Product<double, Exec> mass;
  if (problem.B)
    mass = apps::make_product<double>(problem.exec, distribute(problem.exec, alone, *problem.B),
                                      solver.spmm, static_cast<int>(width));
  auto const choice = apps::parse_preconditioner(solver.preconditioner);
  bool const levels = choice.kind == apps::PreconditionerChoice::Kind::multigrid;
  auto const made = levels ? hierarchy_of(problem, static_cast<int>(width))
                           : apps::make_preconditioner(apps::preconditioner_input<double, Exec>(
                                                           problem.exec, SolveKind::eigenpairs, A,
                                                           *product.op, static_cast<int>(width)),
                                                       choice);
  // a substitute must not have the name of what it replaces
  require(made.notes.empty(), solver.id, made.notes.empty() ? "" : made.notes.front());
  problem.exec.fence("Blockspan::perf::setup");
  double const setup_ms = 1e3 * timer.seconds();
  Answer answer =
      problem.task == Task::eigenpairs
          ? eigenpairs(problem, *product.op, mass.op.get(), *made.op, solves, bytes_per_second)
          : linear_systems(problem, solver.method, *product.op, *made.op, solves, bytes_per_second);
  answer.setup_ms = setup_ms;
  if (solver.preconditioner != "jacobi")
    answer.more.erase("iteration_floor_ms");  // that of one product
  answer.more["product"] = product.name;
  return answer;
}

}  // namespace blockspan::perf
