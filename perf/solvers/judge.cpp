#include <algorithm>
#include <cmath>
#include <string>

#include <blockspan/multivector/multivector.hpp>

#include "blockspan-eig/check.hpp"
#include "blockspan-solve/check.hpp"
#include "blockspan-solve/scaled_matrix.hpp"
#include "common/files/words.hpp"
#include "common/problem/products.hpp"
#include "solvers/problem.hpp"

namespace blockspan::perf {

namespace {

/// Two computations of one residual round differently.
constexpr double slack = 1.01;
constexpr double most_dependent = 0.01;  ///< |cos| of two vectors, or a length off by as much

double largest(std::vector<double> const& residuals) {
  double worst = 0;
  for (double const r : residuals)
    if (!(r <= worst)) worst = r;  // NaN stays
  return worst;
}

/// The largest cosine between two columns of X, in the inner product of B if there is one.
double dependence(SolverProblem const& problem, SolverBlock const& X) {
  Exec const& exec = problem.exec;
  auto const k = X.extent(1);
  SolverBlock BX = X;
  if (problem.B) {
    BX = SolverBlock(Kokkos::view_alloc(exec, "Blockspan::perf::BX"), X.extent(0), k);
    spmm(exec, Op::none, 1.0, *problem.B, X, 0.0, BX);
  }
  SmallMatrix<double> G("Blockspan::perf::gram", k, k);
  gram(exec, X, BX, G);
  exec.fence("Blockspan::perf::gram");
  double worst = 0;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j)
      worst = std::fmax(worst, std::abs(G(i, j) / std::sqrt(G(i, i) * G(j, j)) - (i == j ? 1 : 0)));
  return worst;
}

}  // namespace

Judgement judge(SolverProblem const& problem, Answer const& answer) {
  Judgement result;
  Exec const& exec = problem.exec;
  if (problem.task == Task::eigenpairs) {
    auto const A = apps::plain_product<double>(problem.A),
               B = apps::plain_product<double>(problem.B ? *problem.B : problem.A);
    auto const check = apps::check_residuals<double, Exec>(
        exec, A, problem.B ? &B : nullptr, answer.X, SolverBlock(), answer.eigenvalues,
        problem.norm_a, problem.norm_b);
    result.residual = largest(check.backward);
    if (double const cosine = dependence(problem, answer.X); !(cosine <= most_dependent))
      result.objection = apps::formatted("its vectors are not independent (%.1e)", cosine);
  } else {
    auto const scaled = apps::into_range<double>(exec, problem.A);
    auto const check = apps::check_residuals<double, Exec>(
        exec, {},
        [&](SolverBlock const& X, SolverBlock const& R) {
          blockspan::operators::subtract_product<Exec, double>(
              exec, blockspan::sparse::matrix_ref<Exec>(scaled.matrix),
              blockspan::blocks::block_ref<Exec>(X), blockspan::blocks::block_ref<Exec>(R));
        },
        scaled.exponent, SolverBlock(), problem.rhs, answer.X);
    result.residual = largest(check.residual);
  }
  if (!(result.residual <= slack * problem.tolerance))
    result.objection = apps::formatted("its largest residual is %.1e", result.residual) +
                       apps::formatted(", not %.0e", problem.tolerance);
  return result;
}

std::string missed_pairs(SolverProblem const& problem, std::vector<double> const& eigenvalues,
                         std::vector<double> const& lowest) {
  int missed = 0;
  for (std::size_t j = 0; j < std::min(eigenvalues.size(), lowest.size()); ++j) {
    // each of the two is as far from an eigenvalue as its residual allows; of a pencil that takes
    // the smallest eigenvalue of B, which nobody knows, but a pair that was missed shows
    double const allowed =
        problem.B ? 1e-3 * std::abs(lowest[j])
                  : 2 * slack * problem.tolerance * (problem.norm_a + std::abs(eigenvalues[j]));
    missed += eigenvalues[j] <= lowest[j] + allowed ? 0 : 1;
  }
  return missed == 0 ? "" : apps::formatted("it missed %.0f of the lowest pairs", missed);
}

}  // namespace blockspan::perf
