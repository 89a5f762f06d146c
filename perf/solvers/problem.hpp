#pragma once

#include <optional>
#include <string>
#include <vector>

#include <blockspan/blocks/block.hpp>
#include <blockspan/sparse/crs_matrix.hpp>

#include "peers/contender.hpp"
#include "studies/study.hpp"

namespace blockspan::perf {

using SolverBlock = Block<double, Exec>;

/// What all solvers of a case are given.
struct SolverProblem {
  Exec exec;
  CrsMatrix<double, Exec> A;
  SolverBlock start;  ///< n x block: where an eigensolver begins; empty for linear systems
  SolverBlock rhs;    ///< n x columns; empty for eigenpairs
  Task task;
  int columns;       ///< pairs wanted, or right-hand sides
  double tolerance;  ///< of backward errors, or of ||b - A x|| / ||b||
  int max_iterations;
  double norm_a = 0;  ///< an estimate of ||A||, for backward errors
  double norm_b = 1;
  std::optional<CrsMatrix<double, Exec>> B = {};  ///< of a pencil
  SolverBlock coordinates = {};  ///< of the nodes of a structure, nodes x 3; empty elsewhere

  std::int64_t rows() const { return A.numRows(); }
};

/// Where the nodes of a structure made by a generator are (see coordinates.hpp): what rigid bodies
/// are made of. Empty for all other matrices.
SolverBlock coordinates_of(Exec const& exec, std::string const& source);

/// What a solver answered.
struct Answer {
  SolverBlock X;                    ///< eigenvectors or solutions, n x columns
  std::vector<double> eigenvalues;  ///< of the pairs
  int iterations = 0;
  double setup_ms = 0;
  std::vector<double> ms;      ///< to solution, one of each solve
  Json more = Json::object();  ///< phases, status, version
};

/// The answer's verdict: largest residual (backward error of a pair; ||b - A x|| / ||b||), and why
/// it does not count, in words; empty where it does.
struct Judgement {
  double residual = 0;
  std::string objection;
};

/// Residuals are computed from A itself. Pairs must also be independent.
Judgement judge(SolverProblem const& problem, Answer const& answer);

/// Pairs whose eigenvalue lies above the lowest of that number that any answer has, by more than
/// the tolerance explains: one was missed.
std::string missed_pairs(SolverProblem const& problem, std::vector<double> const& eigenvalues,
                         std::vector<double> const& lowest);

}  // namespace blockspan::perf
