#include "common/files/report_parts.hpp"

namespace blockspan::apps {

Json to_json(Versions const& versions) {
  Json json{{"blockspan", versions.blockspan},
            {"kokkos", versions.kokkos},
            {"kokkos_kernels", versions.kokkos_kernels}};
  if (!versions.openblas.empty()) json["openblas"] = versions.openblas;
  return json;
}

Json to_json(Device const& device) {
  Json name, threads;
  if (!device.name.empty()) name = device.name;
  if (device.threads > 0) threads = device.threads;
  return {{"name", name}, {"threads", threads}};
}

Json to_json(RanksReport const& ranks) {
  if (!ranks.any()) return nullptr;
  return {{"transport", ranks.transport},
          {"partition", ranks.partition},
          {"devices", ranks.devices},
          {"rows", ranks.rows},
          {"nonzeros", ranks.nonzeros},
          {"halo_rows", ranks.halo_rows},
          {"neighbours", ranks.neighbours},
          {"sent_bytes", ranks.sent_bytes},
          {"received_bytes", ranks.received_bytes},
          {"row_imbalance", RanksReport::imbalance(ranks.rows)},
          {"nonzero_imbalance", RanksReport::imbalance(ranks.nonzeros)}};
}

Json to_json(std::optional<MultigridReport> const& multigrid) {
  if (!multigrid) return nullptr;
  Json levels = Json::array();
  for (auto const& level : multigrid->levels)
    levels.push_back({{"rows", level.rows},
                      {"nonzeros", level.nonzeros},
                      {"upper", level.upper},
                      {"aggregates", level.aggregates},
                      {"largest", level.largest},
                      {"left_out", level.left_out},
                      {"spent", level.spent},
                      {"prolongator_nonzeros", level.prolongator_nonzeros},
                      {"smoothed", level.smoothed},
                      {"seconds", level.seconds}});
  Json phases = Json::object();
  for (auto const& [name, seconds] : multigrid->phases.named()) phases[name] = seconds;
  return {{"status", to_string(multigrid->status)},
          {"message", text_or_null(multigrid->message)},
          {"levels", levels},
          {"near_null", multigrid->near_null},
          {"complexity", multigrid->complexity},
          {"grid_complexity", multigrid->grid_complexity},
          {"products", multigrid->products},
          {"null_vectors", multigrid->null_vectors},
          {"ritz_values", {multigrid->smallest, multigrid->largest}},
          {"predicted_iterations", multigrid->predicted_iterations},
          {"single", multigrid->single},
          {"phases", phases},
          {"seconds", multigrid->seconds}};
}

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

}  // namespace blockspan::apps
