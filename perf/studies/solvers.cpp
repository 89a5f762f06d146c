#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

std::vector<std::string> const jacobi_for_all{
    "auto",   "chebyshev:8", "pseudo-block", "block",         "single-reduction",
    "lobpcg", "cg",          "scipy",        "cupy",          "torch",
    "slepc",  "petsc",       "primme",       "slepc_default", "primme_default"};

/// The columns of the page.
void lay_out_solvers(Study& study) {
  study.table = {{"problem", "matrix"},
                 {"columns", "columns"},
                 {"rows", "rows"},
                 {"who", "contender"},
                 {"iterations", "solver:iterations"},
                 {"ms", "ms"},
                 {"setup ms", "setup"},
                 {"ms an iteration", "solver:iteration_ms"},
                 {"floor of it", "solver:iteration_floor_ms"},
                 {"product", "phase:product"},
                 {"preconditioner", "phase:preconditioner"},
                 {"Gram", "phase:gram"},
                 {"update", "phase:update"},
                 {"dense", "phase:dense"},
                 {"residual", "phase:residual"},
                 {"largest residual", "solver:residual"},
                 {"auto is faster by", "speedup:auto:this"}};
}

}  // namespace

Study solvers(Scope const& scope) {
  Study study;
  study.name = "solvers";
  study.title = "LOBPCG and conjugate gradients against those of others";
  study.reproduces =
      "Time an iteration and time to solution, by phase, with the floor of an iteration: its "
      "traffic (A once; for LOBPCG 20 columns of length n for each column of its block, 30 and B "
      "with a mass matrix, for conjugate gradients 12 to 15) at the speed of a copy.";
  study.note =
      "The same matrix, right-hand sides, start and tolerance for all; Jacobi for all that take a "
      "preconditioner, but for slepc_default and primme_default, whose packages choose (see the "
      "member method of their results). Residuals are recomputed by the suite from the matrix "
      "itself, and eigenvalues compared with the lowest that anyone found: who is not at the "
      "tolerance has no time here. Peers that take one right-hand side after the other count the "
      "iterations of all.";
  lay_out_solvers(study);
  auto const add = [&](Task task, std::string const& spec, int columns, double tolerance,
                       std::string const& mass = "") {
    std::string const group = task == Task::eigenpairs ? "eigenpairs" : "linear systems";
    study.cases.push_back({.group = mass.empty() ? group : group + " with the mass matrix " + mass,
                           .spec = spec,
                           .columns = columns,
                           .contenders = jacobi_for_all,
                           .task = task,
                           .tolerance = tolerance,
                           .mass = mass});
  };
  if (scope.quick) {
    add(Task::eigenpairs, "laplace7:10x11x12", 4, 1e-6);
    add(Task::eigenpairs, "elasticity:6", 4, 1e-6, "elasticity-mass:6");
    add(Task::linear_systems, "laplace7:10x11x12", 4, 1e-8);
    return study;
  }
  // blocks of 8, 16 and 32 columns; the small grids for those that take long
  for (std::string const spec : {"laplace7:22", "laplace7:40", "laplace27:80", "elasticity:44"})
    add(Task::eigenpairs, spec, 10, 1e-8);
  add(Task::eigenpairs, "elasticity:44", 10, 1e-8, "elasticity-mass:44");
  for (int const pairs : {4, 10, 24}) add(Task::eigenpairs, "laplace7:100", pairs, 1e-8);
  for (std::string const spec : {"laplace7:22", "laplace7:40"})
    for (int const columns : {1, 8}) add(Task::linear_systems, spec, columns, 1e-8);
  for (int const columns : {1, 8, 32}) add(Task::linear_systems, "laplace7:100", columns, 1e-8);
  for (std::string const spec : {"elasticity:44", "jump7:96:1000"})
    for (int const columns : {1, 8}) add(Task::linear_systems, spec, columns, 1e-8);
  return study;
}

}  // namespace blockspan::perf
