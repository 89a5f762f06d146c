#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/operators/chebyshev.hpp>
#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/conjugate_gradient.hpp>
#include <blockspan/support/error.hpp>

#include "claims/inertia.hpp"
#include "claims/library.hpp"
#include "claims/problem.hpp"

namespace blockspan::test {

using Columns = std::vector<std::vector<std::complex<double>>>;

/// What blockspan-solve is asked for.
struct SystemQuestion {
  enum class Preconditioner { none, jacobi, chebyshev, multigrid };

  CgMethod method = CgMethod::automatic;
  Preconditioner preconditioner = Preconditioner::jacobi;
  double tolerance = 1e-8;
  bool single_reduction = false;

  /// A negative diagonal entry rules out the preconditioners, as it does in the program.
  static SystemQuestion pick_one(Random& random, Dense const& A);
  std::string words(int rows, std::size_t columns) const;
};

/// What is true of the matrix, by exact elimination.
struct SystemTruth {
  Inertia signs;
  bool nearly_singular;  ///< changes by some roundings of the entries make it singular
  explicit SystemTruth(Dense const& A);
};

struct SystemAnswer {
  CgReport<double> report;
  Columns x;
};

/// What a report says of the columns, held against the truth.
void judge_columns(SystemProblem const& problem, SystemTruth const& truth,
                   SystemQuestion const& question, SystemAnswer const& answer, Outcome& outcome);

bool is_finite(std::vector<std::complex<double>> const& b);
/// Finite and not zero.
bool is_ordinary(std::vector<std::complex<double>> const& b);

/// Solves as blockspan-solve does.
template <class Scalar, class Exec>
SystemAnswer solve_system(Exec const& exec, Dense const& matrix, Columns const& rhs,
                          SystemQuestion const& question, std::string const& name) {
  using Choice = SystemQuestion::Preconditioner;
  int const n = matrix.order(), k = static_cast<int>(rhs.size());
  auto const A = to_library<Scalar>(exec, matrix, name + "_A");
  auto const a = matrix_operator(exec, A, k);
  std::unique_ptr<LinearOperator<Scalar, Exec>> M;
  if (question.preconditioner == Choice::jacobi)
    M = std::make_unique<JacobiPreconditioner<Scalar, Exec>>(jacobi(exec, A));
  if (question.preconditioner == Choice::chebyshev) {
    auto const setup = chebyshev_setup(exec, a, A);
    if (setup.usable())
      M = std::make_unique<ChebyshevPreconditioner<Scalar, Exec>>(chebyshev(a, setup));
  }
  if (question.preconditioner == Choice::multigrid) {
    auto V = std::make_unique<Multigrid<Scalar, Exec>>(exec, A);
    if (V->report().usable()) M = std::move(V);
  }
  CgOptions<Scalar, Exec> options;
  options.method = question.method;
  options.preconditioner = M.get();
  options.tolerance = question.tolerance;
  options.single_reduction = question.single_reduction;
  options.max_iterations = 2000;
  Block<Scalar, Exec> const B("Blockspan::test::B", n, k), X("Blockspan::test::X", n, k);
  auto const b = Kokkos::create_mirror_view(B), x = Kokkos::create_mirror_view(X);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < n; ++i) b(i, j) = to_scalar<Scalar>(rhs[j][i]);
  Kokkos::deep_copy(B, b);
  if (!fuzz_folder().empty() && std::all_of(rhs.begin(), rhs.end(), is_finite))
    write_block(fuzz_folder() + "/" + name + "_b.mtx", B);
  SystemAnswer answer{solve_spd<Scalar, Exec>(exec, a, B, X, options), {}};
  Kokkos::deep_copy(x, X);
  for (int j = 0; j < k; ++j) {
    answer.x.emplace_back();
    for (int i = 0; i < n; ++i) answer.x.back().push_back(to_std(x(i, j)));
  }
  return answer;
}

/// The problem of a seed, solved and judged.
template <class Scalar, class Exec>
Outcome run_system_claim(std::span<SystemGenerator const> generators, std::uint64_t seed) {
  Random random(seed * 2 + 2);
  auto const& generator = generators[seed % generators.size()];
  SystemProblem problem = generator.make(random);
  if constexpr (is_complex_v<Scalar>) {
    auto const phases = random_phases(random, problem.A.order(), problem.exact);
    problem.A = with_phases(problem.A, phases);
    for (auto& b : problem.rhs)
      for (std::size_t i = 0; i < b.size(); ++i) b[i] *= phases[i];
  }
  auto const question = SystemQuestion::pick_one(random, problem.A);
  Outcome outcome{generator.name,
                  question.words(problem.A.order(), problem.rhs.size()),
                  true,
                  static_cast<int>(problem.rhs.size()),
                  0,
                  {}};
  Exec const exec;
  std::string const name = "seed" + std::to_string(seed);
  try {
    auto const answer = solve_system<Scalar>(exec, problem.A, problem.rhs, question, name);
    outcome.name += ", " + std::string(to_string(answer.report.status));
    judge_columns(problem, SystemTruth(problem.A), question, answer, outcome);
    Columns ordinary;
    for (auto const& b : problem.rhs)
      if (is_ordinary(b)) ordinary.push_back(b);
    if (ordinary.empty() || ordinary.size() == problem.rhs.size()) return outcome;
    // Columns that are zero or not finite do the others no harm.
    auto const alone = solve_system<Scalar>(exec, problem.A, ordinary, question, name);
    for (std::size_t j = 0, k = 0; j < problem.rhs.size(); ++j) {
      if (!is_ordinary(problem.rhs[j])) continue;
      bool const was = alone.report.columns[k++].success();
      if (was && !answer.report.columns[j].success())
        outcome.wrong.push_back("column " + std::to_string(j) + " converges without the others");
    }
  } catch (Error const& error) {
    outcome.name += std::string(", refused: ") + error.what();
  }
  return outcome;
}

}  // namespace blockspan::test
