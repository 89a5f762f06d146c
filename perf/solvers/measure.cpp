#include "solvers/measure.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <blockspan/multivector/fill_random.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/error.hpp>

#include "common/problem/problem.hpp"
#include "solvers/own.hpp"
#include "solvers/peers.hpp"

namespace blockspan::perf {

namespace {

constexpr int max_iterations = 5000;
constexpr int fewest_solves = 3;  ///< that are timed, unless the run is a quick one

SolverBlock random_block(Exec const& exec, std::int64_t rows, int columns) {
  SolverBlock const X(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Blockspan::perf::B"),
                      rows, columns);
  fill_random(exec, X, 1);
  return X;
}

SolverProblem make_problem(Exec const& exec, std::string const& source, Case const& one) {
  require(one.scalar == "f64", "solvers", "are measured in f64, not ", one.scalar);
  SolverProblem problem{.exec = exec,
                        .A = apps::load_matrix<double>(exec, source),
                        .start = {},
                        .rhs = {},
                        .task = one.task,
                        .columns = one.columns,
                        .tolerance = one.tolerance,
                        .max_iterations = max_iterations};
  if (!one.mass.empty()) {
    problem.B = apps::load_matrix<double>(exec, one.mass);
    require(problem.B->numRows() == problem.rows(), one.mass, "has ", problem.B->numRows(),
            " rows, ", source, " has ", problem.rows());
  }
  problem.coordinates = coordinates_of(exec, source);
  if (one.task == Task::eigenpairs)
    problem.start = random_block(exec, problem.rows(), lobpcg_block_size(one.columns));
  else
    problem.rhs = random_block(exec, problem.rows(), one.columns);
  return problem;
}

/// An error that no residual can hide: what the judge must find.
void spoil(Answer& answer) {
  for (double& value : answer.eigenvalues) value *= 1.5;
  Kokkos::deep_copy(Kokkos::subview(answer.X, 0, Kokkos::ALL), 1.0);
}

/// One case: all that was asked to solve it, judged when all have answered.
class SolverRun {
 public:
  SolverRun(Bench& bench, Case const& one, SolverProblem problem, Scripts const& scripts)
      : bench_(bench), one_(one), problem_(std::move(problem)), scripts_(scripts) {}

  CaseResult run() {
    CaseResult result;
    result.rows = result.columns = problem_.rows();
    result.nonzeros = static_cast<std::int64_t>(problem_.A.nnz());
    int const solves = bench_.quick ? 1 : fewest_solves;
    for (OwnSolver const& solver : own_solvers(problem_)) {
      if (!one_.wants(solver.id, solver.family)) continue;
      ask(result, solver.id, solver.family,
          [&] { return solve_by_own(problem_, solver, solves, bench_.bytes_per_second); });
    }
    PeerProblem const written(problem_, scripts_, solves);
    bool const pairs = problem_.task == Task::eigenpairs;
    for (std::string const& peer : peer_names()) {
      if (!one_.wants(peer, peer)) continue;
      std::string const id = peer + (pairs ? "/eigenpairs" : "/cg");
      ask(result, id, peer, [&] {
        require(!problem_.B, peer, "not asked: the peers are given no mass matrix");
        return ask_peer(written, peer, id);
      });
    }
    refuse_missed_pairs(result);
    return result;
  }

 private:
  template <class Solve>
  void ask(CaseResult& result, std::string const& id, std::string const& family,
           Solve const& solve) {
    KernelResult kernel;
    kernel.id = id;
    kernel.family = family;
    std::vector<double> eigenvalues;
    try {
      Answer answer = solve();
      if (id == bench_.fault) spoil(answer);
      take(answer, kernel);
      eigenvalues = std::move(answer.eigenvalues);
    } catch (std::exception const& error) {
      kernel.refused = error.what();
    }
    result.kernels.push_back(std::move(kernel));
    eigenvalues_.push_back(std::move(eigenvalues));
  }

  /// One that took too long is not asked about larger problems of the kind.
  Answer ask_peer(PeerProblem const& written, std::string const& peer,
                  std::string const& id) const {
    double const work = static_cast<double>(problem_.A.nnz()) * problem_.columns;
    auto const limit =
        bench_.too_much.try_emplace(id, std::numeric_limits<double>::infinity()).first;
    require(work < limit->second, peer, "not asked: a smaller problem took it longer than ",
            bench_.peer_seconds, " s");
    try {
      return written.solve(peer, bench_.peer_seconds);
    } catch (TookTooLong const&) {
      limit->second = work;
      throw;
    }
  }

  /// Judges an answer and takes over what it says.
  void take(Answer const& answer, KernelResult& kernel) const {
    Judgement const judgement = judge(problem_, answer);
    kernel.unconverged = judgement.objection;
    kernel.verdict.right = judgement.objection.empty();
    kernel.setup_ms = answer.setup_ms;
    Times const times = summarize(answer.ms, 1);
    kernel.solver = {{"iterations", answer.iterations}, {"residual", judgement.residual}};
    if (kernel.verdict.right) {
      kernel.times = times;
      if (answer.iterations > 0) kernel.solver["iteration_ms"] = times.median / answer.iterations;
    }
    kernel.solver.update(answer.more);
    if (answer.more.contains("product")) kernel.ran = answer.more["product"].get<std::string>();
  }

  /// The lowest eigenvalue of each number that a right answer has decides for all.
  void refuse_missed_pairs(CaseResult& result) const {
    std::vector<double> lowest(static_cast<std::size_t>(problem_.columns),
                               std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < eigenvalues_.size(); ++i)
      if (result.kernels[i].verdict.right)
        for (std::size_t j = 0; j < eigenvalues_[i].size(); ++j)
          lowest[j] = std::min(lowest[j], eigenvalues_[i][j]);
    for (std::size_t i = 0; i < eigenvalues_.size(); ++i) {
      KernelResult& kernel = result.kernels[i];
      std::string const missed = missed_pairs(problem_, eigenvalues_[i], lowest);
      if (!kernel.verdict.right || missed.empty()) continue;
      kernel.unconverged = missed;
      kernel.verdict.right = false;
      kernel.times.reset();
      kernel.solver.erase("iteration_ms");
    }
  }

  Bench& bench_;
  Case const& one_;
  SolverProblem problem_;
  Scripts const& scripts_;
  std::vector<std::vector<double>> eigenvalues_;  ///< of each kernel; empty where it has none
};

}  // namespace

CaseResult measure_solvers(Bench& bench, std::string const& source, Case const& one,
                           Scripts const& scripts) {
  return SolverRun(bench, one, make_problem(bench.exec, source, one), scripts).run();
}

}  // namespace blockspan::perf
