#include "studies/studies.hpp"

namespace blockspan::perf {

namespace {

/// The columns and curves of the page.
void lay_out_multigrid(Study& study) {
  study.table = {{"problem", "matrix"},
                 {"rows", "rows"},
                 {"who", "contender"},
                 {"iterations", "solver:iterations"},
                 {"setup", "setup"},
                 {"solve", "ms"},
                 {"both", "total"},
                 {"an iteration", "solver:iteration_ms"},
                 {"largest residual", "solver:residual"},
                 {"multigrid solves faster by", "speedup:multigrid:this"},
                 {"with setup by", "total_speedup:multigrid:this"}};
  study.plots = {{.name = "total",
                  .title = "Setup and solve",
                  .x = "number",
                  .curves = {{"multigrid", "total:multigrid"},
                             {"Chebyshev", "total:chebyshev:8"},
                             {"Jacobi", "total:jacobi"},
                             {"PyAMG", "total:pyamg"},
                             {"hypre", "total:hypre"},
                             {"CuPy", "total:cupy"},
                             {"PyTorch", "total:torch"}},
                  .log_y = true,
                  .y = "ms"}};
}

}  // namespace

Study multigrid(Scope const& scope) {
  Study study;
  study.name = "multigrid";
  study.title = "Multigrid for blocks: levels, cycles, and time to solution";
  study.reproduces =
      "What a hierarchy costs and what it brings: setup and refresh by phase, cycles beside the "
      "floor of their traffic, and solves beside other preconditioners and other multigrids, with "
      "the setup and without it.";
  study.note =
      "The floor of a cycle is its compulsory traffic at the speed of a copy, in single precision, "
      "the steps of the smoother fused with their products (the way of the block into single "
      "precision and back is not counted); the model is 1.5 times that floor and the time between "
      "two empty kernels for each kernel. Solves: the same matrix, right-hand sides, start and "
      "tolerance for all; residuals are recomputed by the suite, and who is not at the tolerance "
      "has no time. Structures are given with the coordinates of their nodes. "
      "PyAMG (smoothed aggregation), hypre (BoomerAMG through PETSc), both as they come and on the "
      "host, solve one right-hand side after the other, and count the iterations of all; CuPy and "
      "PyTorch have no multigrid: theirs is Jacobi.";
  lay_out_multigrid(study);
  auto const add = [&](Task task, std::string const& group, std::string const& spec, int columns,
                       double tolerance = 1e-8, std::string const& mass = "") {
    study.cases.push_back(
        {.group = group,
         .spec = spec,
         .columns = columns,
         .contenders = {"multigrid", "chebyshev:8", "jacobi", "pyamg", "hypre", "cupy", "torch"},
         .task = task,
         .tolerance = tolerance,
         .mass = mass});
  };
  using Specs = std::vector<std::string>;
  Specs specs{"laplace7:40",   "laplace7:64",   "laplace7:100",  "laplace27:40", "laplace27:80",
              "elasticity:16", "elasticity:24", "elasticity:44", "p1:20",        "p1:40"};
  Specs largest{"laplace7:100", "laplace27:80", "elasticity:44", "p1:40"};
  if (scope.quick) specs = largest = {"laplace7:16", "elasticity:8"};
  for (auto const& spec : specs) add(Task::hierarchy, "hierarchies", spec, 8);
  for (auto const& spec : specs) add(Task::linear_systems, "1 right-hand side", spec, 1);
  for (auto const& spec : specs) add(Task::linear_systems, "8 right-hand sides", spec, 8);
  if (!scope.quick)
    for (auto const& spec : largest) add(Task::linear_systems, "32 right-hand sides", spec, 32);
  int const pairs = scope.quick ? 4 : 10;
  for (auto const& spec : scope.quick ? specs
                                      : Specs{"laplace7:40", "laplace7:100", "laplace27:80",
                                              "elasticity:24", "elasticity:44", "p1:40"})
    add(Task::eigenpairs, std::to_string(pairs) + " pairs", spec, pairs, scope.quick ? 1e-6 : 1e-8);
  if (!scope.quick)
    add(Task::eigenpairs, "10 pairs with a mass matrix", "p1:40", 10, 1e-8, "p1-mass:40");
  return study;
}

}  // namespace blockspan::perf
