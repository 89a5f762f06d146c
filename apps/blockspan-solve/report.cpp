#include "blockspan-solve/report.hpp"

#include "blockspan-solve/advice.hpp"
#include "blockspan-solve/judge.hpp"
#include "common/files/report_parts.hpp"

namespace blockspan::apps {

namespace {

Json problem(SolveCommand const& command, SolveResult const& result) {
  return {{"source", command.matrix},
          {"scalar", result.scalar},
          {"rows", result.rows},
          {"nonzeros", result.nonzeros},
          {"columns", result.columns},
          {"symmetrize", command.symmetrize},
          {"rhs", text_or_null(command.rhs)},
          {"guess", text_or_null(command.guess)},
          {"null_space", text_or_null(command.null_space)}};
}

Json options(SolveCommand const& command) {
  return {{"seed", command.seed},
          {"method", command.method},
          {"single_reduction", command.single_reduction},
          {"preconditioner", command.preconditioner},
          {"precision", command.precision},
          {"tolerance", command.tolerance},
          {"absolute_tolerance", command.absolute_tolerance},
          {"max_iterations", command.max_iterations},
          {"backend", command.machine.backend},
          {"spmm", command.machine.spmm}};
}

Json columns(SolveResult const& result) {
  Json list = Json::array();
  for (std::size_t j = 0; j < result.status.size(); ++j) {
    auto const& column = result.solver.columns[j];
    list.push_back({{"status", to_string(result.status[j])},
                    {"iterations", column.iterations},
                    {"inner_iterations", column.inner_iterations},
                    {"fell_back", column.fell_back},
                    {"true_residual", result.true_residuals[j]},
                    {"solver_residual", column.residual},
                    {"backward_error", column.backward_error},
                    {"outside", column.outside},
                    {"cycle_residuals", column.cycle_residuals}});
  }
  return list;
}

Json counters(CgCounters const& c) {
  return {{"operator_columns", c.operator_columns},
          {"preconditioner_applications", c.preconditioner_applications},
          {"preconditioner_columns", c.preconditioner_columns},
          {"inner_operator_applications", c.inner_operator_applications},
          {"inner_operator_columns", c.inner_operator_columns},
          {"inner_preconditioner_applications", c.inner_preconditioner_applications},
          {"inner_preconditioner_columns", c.inner_preconditioner_columns},
          {"inner_cycles", c.inner_cycles},
          {"synchronizations", c.synchronizations},
          {"cycles", c.cycles},
          {"groups", c.groups},
          {"compactions", c.compactions},
          {"replayed", c.replayed},
          {"reorthogonalizations", c.reorthogonalizations},
          {"directions_dropped", c.directions_dropped},
          {"smallest_block", c.smallest_block},
          {"guesses_rejected", c.guesses_rejected}};
}

Json history(std::vector<CgIteration<double>> const& iterations) {
  Json list = Json::array();
  for (auto const& step : iterations)
    list.push_back({{"iteration", step.iteration},
                    {"cycle", step.cycle},
                    {"first_column", step.first_column},
                    {"directions", step.directions},
                    {"residuals", step.residuals}});
  return list;
}

Json seconds(RunSeconds const& app, CgSeconds const& solver) {
  return {{"total", app.total},        {"load", app.load},
          {"setup", app.setup},        {"solve", solver.total},
          {"product", solver.product}, {"preconditioner", solver.preconditioner},
          {"gram", solver.gram},       {"update", solver.update},
          {"dense", solver.dense},     {"verify", solver.verify},
          {"inner", solver.inner},     {"check", app.check},
          {"output", app.output}};
}

}  // namespace

std::string report_text(SolveCommand const& command, SolveResult const& result) {
  auto const& solver = result.solver;
  return to_text({{"schema", "blockspan-solve/1"},
                  {"versions", to_json(versions())},
                  {"problem", problem(command, result)},
                  {"backend", result.device.backend},
                  {"device", to_json(result.device)},
                  {"ranks", to_json(result.ranks)},
                  {"product", {{"name", result.product}, {"reason", result.product_reason}}},
                  {"preconditioner", text_or_null(result.preconditioner)},
                  {"multigrid", to_json(result.levels)},
                  {"options", options(command)},
                  {"converged", result.converged},
                  {"stop_reason", to_string(stop_reason(result))},
                  {"advice", solve_advice(command, result)},
                  {"columns", columns(result)},
                  {"method", solver.method},
                  {"reason", solver.reason},
                  {"iterations", solver.iterations},
                  {"operator_applications", solver.counters.operator_applications},
                  {"counters", counters(solver.counters)},
                  {"null_vectors", solver.null_vectors},
                  {"norm_a", solver.norm_a},
                  {"indefinite", solver.indefinite},
                  {"curvature", solver.curvature},
                  {"largest_condition", solver.largest_condition},
                  {"history", history(solver.history)},
                  {"seconds", seconds(result.seconds, solver.seconds)},
                  {"notes", result.notes}});
}

}  // namespace blockspan::apps
