#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <blockspan/operators/jacobi.hpp>
#include <blockspan/operators/matrix_operator.hpp>
#include <blockspan/solvers/lobpcg.hpp>
#include <blockspan/support/error.hpp>

#include "claims/inertia.hpp"
#include "claims/library.hpp"
#include "claims/problem.hpp"
#include "solvers/judge.hpp"

namespace blockspan::test {

/// What blockspan-eig is asked for.
struct EigenQuestion {
  int wanted = 1;
  Which which = Which::smallest;
  SolvePath path = SolvePath::automatic;
  Criterion criterion = Criterion::digits;
  double tolerance = 1e-8;
  bool certify = false;
  int block = 0;  ///< columns; 0: as many as the library takes by itself

  static EigenQuestion pick_one(Random& random, int rows);
  /// For the iteration: a block that fits five times into the rows.
  static EigenQuestion pick_iterative(Random& random, int rows);
  std::string words(int rows) const;
};

/// Rows that neither matrix uses are no unknowns of a pencil; of the others the truth is asked.
EigenProblem without_unused_rows(EigenProblem const& problem);

/// What a report says of the eigenvalues, held against counts; `outcome` gets the claims that do
/// not hold.
void judge_values(Spectrum const& spectrum, EigenQuestion const& question,
                  LobpcgReport<double> const& report, Outcome& outcome);

/// What a report says of the problem and of all pairs together.
void judge_status(EigenProblem const& problem, LobpcgReport<double> const& report,
                  Outcome& outcome);

/// What a report says of vectors and residuals, held against the test's own.
void judge_vectors(EigenQuestion const& question, LobpcgReport<double> const& report,
                   Judgement const& found, double norm_b, Outcome& outcome);

/// One column for each; also a file of the folder asked for.
template <class Scalar, class Exec>
Block<Scalar, Exec> to_block(Exec const&, Constraints const& columns, int rows,
                             std::string const& name) {
  if (columns.empty()) return {};
  Block<Scalar, Exec> const C("Blockspan::test::C", rows, columns.size());
  auto const host = Kokkos::create_mirror_view(C);
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (int i = 0; i < rows; ++i) host(i, j) = to_scalar<Scalar>(columns[j][i]);
  Kokkos::deep_copy(C, host);
  if (!fuzz_folder().empty()) write_block(fuzz_folder() + "/" + name + "_C.mtx", C);
  return C;
}

/// Solves as blockspan-eig does.
template <class Scalar, class Exec>
LobpcgReport<double> solve_eigen(Exec const& exec, EigenProblem const& problem,
                                 EigenQuestion const& question, std::string const& name,
                                 Block<Scalar, Exec>& X) {
  int const n = problem.A.order();
  int const block =
      question.block > 0 ? question.block : std::min(lobpcg_block_size(question.wanted), n);
  auto const A = to_library<Scalar>(exec, problem.A, name + "_A");
  auto const a = matrix_operator(exec, A, block);
  using Operator = MatrixOperator<Scalar, Exec>;
  std::optional<CrsMatrix<Scalar, Exec>> M;
  std::unique_ptr<Operator> b;
  LobpcgOptions<Scalar, Exec> options;
  if (problem.B) {
    M = to_library<Scalar>(exec, *problem.B, name + "_B");
    b = std::make_unique<Operator>(matrix_operator(exec, *M, block));
    if (question.certify)
      options.mass_lower_bound = std::max(0.0, *b->facts().eigenvalue_lower_bound);
  }
  auto const jacobi = blockspan::jacobi(exec, A);
  options.wanted = question.wanted;
  options.which = question.which;
  options.path = question.path;
  options.criterion = question.criterion;
  options.tolerance = question.tolerance;
  options.certify = question.certify;
  options.constraints = to_block<Scalar>(exec, problem.constraints, n, name);
  options.max_iterations = 1000;
  if (question.which == Which::smallest) options.preconditioner = &jacobi;
  X = Block<Scalar, Exec>("Blockspan::test::X", n, std::max(block, question.wanted));
  return b ? lobpcg(exec, a, *b, X, options) : lobpcg(exec, a, X, options);
}

/// The problem of a seed, solved and judged.
template <class Scalar, class Exec>
Outcome run_eigen_claim(std::span<EigenGenerator const> generators, std::uint64_t seed,
                        bool iterative) {
  Random random(seed * 2 + 1);
  auto const& generator = generators[seed % generators.size()];
  EigenProblem problem = generator.make(random);
  if constexpr (is_complex_v<Scalar>) {
    auto const phases = random_phases(random, problem.A.order(), problem.exact);
    problem.A = with_phases(problem.A, phases);
    if (problem.B) problem.B = with_phases(*problem.B, phases);
    for (auto& c : problem.constraints)
      for (std::size_t i = 0; i < c.size(); ++i) c[i] *= phases[i];
  }
  int const n = problem.A.order();
  int const rows = n - static_cast<int>(problem.constraints.size());
  auto const question = iterative ? EigenQuestion::pick_iterative(random, rows)
                                  : EigenQuestion::pick_one(random, rows);
  Outcome outcome{generator.name, question.words(n), true, question.wanted, 0, {}};

  EigenProblem const used = without_unused_rows(problem);
  Spectrum const spectrum(used.A, used.B ? &*used.B : nullptr, used.singular_mass,
                          problem.constraints);
  outcome.posed = spectrum.well_posed();
  if (!outcome.posed) return outcome;

  Exec const exec;
  Block<Scalar, Exec> X;
  LobpcgReport<double> report;
  try {
    report = solve_eigen(exec, problem, question, "seed" + std::to_string(seed), X);
  } catch (Error const& error) {
    outcome.name += std::string(", refused: ") + error.what();
    return outcome;
  }
  outcome.name += ", " + report.path + ", " + std::string(to_string(report.status));
  judge_status(problem, report, outcome);
  judge_values(spectrum, question, report, outcome);
  auto const A = sparse<Scalar>(problem.A);
  auto const B = sparse<Scalar>(problem.B ? *problem.B : Dense());
  auto const found = judge<Scalar, Exec>(A, problem.B ? &B : nullptr, X, report.eigenvalues);
  // With constraints the residuals are those of the projected problem.
  if (problem.constraints.empty())
    judge_vectors(question, report, found, problem.B ? B.infinity_norm() : 1, outcome);
  return outcome;
}

}  // namespace blockspan::test
