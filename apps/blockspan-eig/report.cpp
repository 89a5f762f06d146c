#include "blockspan-eig/report.hpp"

#include "blockspan-eig/advice.hpp"
#include "blockspan-eig/exact.hpp"
#include "common/files/report_parts.hpp"

namespace blockspan::apps {

namespace {

Json problem(EigCommand const& command, EigResult const& result) {
  Json mass;
  if (!command.mass.empty()) mass = {{"source", command.mass}, {"nonzeros", result.mass_nonzeros}};
  return {{"source", command.matrix},
          {"operator", command.operator_kind},
          {"symmetrize", command.symmetrize},
          {"scalar", result.scalar},
          {"rows", result.rows},
          {"nonzeros", result.nonzeros},
          {"mass", mass}};
}

Json options(EigCommand const& command, EigResult const& result) {
  return {{"pairs", command.pairs},
          {"which", command.which},
          {"block", result.block},
          {"tolerance", command.tolerance},
          {"criterion", command.criterion},
          {"digits", command.digits},
          {"path", command.path},
          {"preconditioner", command.preconditioner},
          {"precision", command.precision},
          {"max_iterations", command.max_iterations},
          {"seed", command.seed},
          {"initial", text_or_null(command.initial)},
          {"constraints", text_or_null(command.constraints)},
          {"time_limit", command.time_limit},
          {"checkpoint", text_or_null(command.checkpoint)},
          {"resume", text_or_null(command.resume)},
          {"certify", command.certify},
          {"backend", command.machine.backend},
          {"spmm", command.machine.spmm}};
}

Json certificate(EigCommand const& command, LobpcgCertificate<double> const& c) {
  if (!command.certify || c.radius.empty()) return {};
  return {{"radius", c.radius},
          {"gap_radius", c.gap_radius},
          {"orthogonality_loss", c.orthogonality_loss},
          {"rigorous", c.rigorous}};
}

Json fault(LobpcgFault const& f) {
  if (f.operator_name.empty()) return {};
  return {{"operator", f.operator_name}, {"column", f.column}, {"iteration", f.iteration}};
}

Json counters(LobpcgCounters const& c) {
  return {{"batches", c.batches},
          {"polishes", c.polishes},
          {"operator_columns", c.operator_columns},
          {"mass_columns", c.mass_columns},
          {"preconditioner_columns", c.preconditioner_columns},
          {"mass_applications", c.mass_applications},
          {"preconditioner_applications", c.preconditioner_applications},
          {"restarts", c.restarts},
          {"widenings", c.widenings},
          {"verifications", c.verifications},
          {"probes", c.probes},
          {"robust_iterations", c.robust_iterations},
          {"factor_fallbacks", c.factor_fallbacks},
          {"columns_dropped", c.columns_dropped},
          {"preconditioner_rejected", c.preconditioner_rejected},
          {"preconditioner_dropped", c.preconditioner_dropped}};
}

/// Null where all was done in working precision.
Json single_stage(EigCommand const& command, LobpcgSingleStage const& stage) {
  if (command.precision != "mixed") return {};
  return {{"status", to_string(stage.status)},
          {"used", stage.used},
          {"iterations", stage.iterations},
          {"operator_applications", stage.counters.operator_applications},
          {"seconds", stage.seconds.total},
          {"fault", fault(stage.fault)}};
}

Json history(std::vector<LobpcgIteration<double>> const& iterations) {
  Json list = Json::array();
  for (auto const& step : iterations)
    list.push_back({{"iteration", step.iteration},
                    {"active", step.active},
                    {"eigenvalues", step.eigenvalues},
                    {"residuals", step.backward_errors}});
  return list;
}

Json seconds(RunSeconds const& app, LobpcgSeconds const& solver) {
  return {{"total", app.total},
          {"load", app.load},
          {"setup", app.setup},
          {"solve", solver.total},
          {"operator", solver.operator_a},
          {"mass", solver.operator_b},
          {"preconditioner", solver.preconditioner},
          {"gram", solver.gram},
          {"update", solver.update},
          {"dense", solver.dense},
          {"residual", solver.residual},
          {"check", app.check},
          {"output", app.output}};
}

Json spellings(std::vector<Status> const& statuses) {
  Json list = Json::array();
  for (Status const status : statuses) list.push_back(to_string(status));
  return list;
}

}  // namespace

std::string report_text(EigCommand const& command, EigResult const& result) {
  auto const& solver = result.solver;
  return to_text({{"schema", "blockspan-eig/1"},
                  {"versions", to_json(versions())},
                  {"problem", problem(command, result)},
                  {"backend", result.device.backend},
                  {"device", to_json(result.device)},
                  {"ranks", to_json(result.ranks)},
                  {"product", {{"name", result.product}, {"reason", result.product_reason}}},
                  {"options", options(command, result)},
                  {"preconditioner", text_or_null(result.preconditioner)},
                  {"multigrid", to_json(result.levels)},
                  {"converged", result.converged},
                  {"stop_reason", to_string(solver.status)},
                  {"advice", advice(command, result)},
                  {"path", solver.path},
                  {"path_reason", solver.path_reason},
                  {"scaling", text_or_null(solver.scaling)},
                  {"trouble", text_or_null(solver.trouble)},
                  {"eigenvalues", solver.eigenvalues},
                  {"error_bounds", solver.error_bounds},
                  {"certain_digits", solver.certain_digits},
                  {"mass_norm", text_or_null(solver.mass_norm)},
                  {"residuals", result.check.backward},
                  {"norms", {{"A", solver.norm_a}, {"M", solver.norm_b}}},
                  {"relative_residuals", result.check.relative},
                  {"solver_residuals", solver.backward_errors},
                  {"status", spellings(result.status)},
                  {"certificate", certificate(command, solver.certificate)},
                  {"exact", exact_json(command, result)},
                  {"fault", fault(solver.fault)},
                  {"iterations", solver.iterations},
                  {"operator_applications", solver.counters.operator_applications},
                  {"counters", counters(solver.counters)},
                  {"single_precision", single_stage(command, solver.single)},
                  {"history", history(solver.history)},
                  {"seconds", seconds(result.seconds, solver.seconds)},
                  {"notes", result.notes}});
}

}  // namespace blockspan::apps
